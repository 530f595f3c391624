/* SPDX-License-Identifier: Apache-2.0 */

import java.io.BufferedOutputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

import sun.jvm.hotspot.HotSpotAgent;
import sun.jvm.hotspot.oops.Array;
import sun.jvm.hotspot.oops.ArrayKlass;
import sun.jvm.hotspot.oops.Field;
import sun.jvm.hotspot.oops.HeapVisitor;
import sun.jvm.hotspot.oops.InstanceKlass;
import sun.jvm.hotspot.oops.Klass;
import sun.jvm.hotspot.oops.ObjArrayKlass;
import sun.jvm.hotspot.oops.Oop;
import sun.jvm.hotspot.oops.TypeArrayKlass;
import sun.jvm.hotspot.runtime.BasicType;
import sun.jvm.hotspot.runtime.VM;

/**
 * Writes which object of a running Java VM is at which address, for `cyclops c2c --heap-map`; the format is in
 * cyclops-c2c(1), HEAP MAPS. The VM stands still meanwhile. Needs the JDK that runs the program (its module
 * jdk.hotspot.agent), and the right to trace the process. See heap-map.sh beside this file.
 *
 * usage: HeapMap PID FILE [CLASS...]      only objects of these classes: "Counters", "long[]"
 */
public final class HeapMap implements HeapVisitor {
    private final PrintStream out;
    private final java.util.Set<String> wanted;
    private final Map<Klass, String> names = new LinkedHashMap<>();

    private HeapMap(PrintStream out, java.util.Set<String> wanted) {
        this.out = out;
        this.wanted = wanted;
    }

    /** "long" for J, "java.lang.String" for Ljava/lang/String; and "[]" for each dimension. */
    private static String typeName(String signature) {
        return switch (signature.charAt(0)) {
            case '[' -> typeName(signature.substring(1)) + "[]";
            case 'L' -> signature.substring(1, signature.length() - 1).replace('/', '.');
            case 'Z' -> "boolean";
            case 'B' -> "byte";
            case 'C' -> "char";
            case 'S' -> "short";
            case 'I' -> "int";
            case 'J' -> "long";
            case 'F' -> "float";
            case 'D' -> "double";
            default -> signature;
        };
    }

    private static int sizeOf(char signature) {
        return switch (signature) {
            case 'Z', 'B' -> 1;
            case 'C', 'S' -> 2;
            case 'I', 'F' -> 4;
            case 'J', 'D' -> 8;
            default -> VM.getVM().getHeapOopSize();
        };
    }

    private static String className(Klass klass) {
        String name = klass.getName().asString();

        return name.startsWith("[") ? typeName(name) : name.replace('/', '.');
    }

    /** All fields of an instance, those of its superclasses, too. */
    private void writeFields(InstanceKlass klass, String name) {
        for (Klass k = klass; k instanceof InstanceKlass; k = k.getSuper())
            for (Object each : ((InstanceKlass) k).getImmediateFields()) {
                Field field = (Field) each;
                String signature = field.getSignature().asString();

                if (!field.isStatic())
                    out.println("field " + field.getOffset() + " " + sizeOf(signature.charAt(0)) + " "
                            + typeName(signature) + " " + name + "." + field.getID().getName());
            }
    }

    private void writeElements(ArrayKlass klass, String name) {
        char element = klass.getName().asString().charAt(1);
        BasicType type = klass instanceof TypeArrayKlass ? BasicType.charToBasicType(element) : BasicType.T_OBJECT;

        out.println("element " + Array.baseOffsetInBytes(type) + " " + sizeOf(element) + " " + name);
    }

    private String introduce(Klass klass) {
        String name = className(klass);

        if (wanted.isEmpty() || wanted.contains(name)) {
            if (klass instanceof InstanceKlass instance)
                writeFields(instance, name);
            else if (klass instanceof TypeArrayKlass || klass instanceof ObjArrayKlass)
                writeElements((ArrayKlass) klass, name);
        }
        return name;
    }

    @Override
    public void prologue(long usedSize) {
    }

    @Override
    public boolean doObj(Oop object) {
        String name = names.computeIfAbsent(object.getKlass(), this::introduce);

        if (wanted.isEmpty() || wanted.contains(name))
            out.println(Long.toHexString(VM.getVM().getDebugger().getAddressValue(object.getHandle())) + " "
                    + object.getObjectSize() + " " + name);
        return false;
    }

    @Override
    public void epilogue() {
    }

    public static void main(String[] words) throws IOException {
        if (words.length < 2) {
            System.err.println("usage: HeapMap PID FILE [CLASS...]");
            System.exit(2);
        }
        int pid = Integer.parseInt(words[0]);
        HotSpotAgent agent = new HotSpotAgent();

        agent.attach(pid);
        try (PrintStream out = new PrintStream(new BufferedOutputStream(new FileOutputStream(words[1]), 1 << 20), false,
                StandardCharsets.UTF_8)) {
            out.println("# Objects of a Java heap, for cyclops c2c --heap-map");
            out.println("pid " + pid);
            out.println("time " + Instant.now().truncatedTo(ChronoUnit.MILLIS));
            VM.getVM().getObjectHeap().iterate(
                    new HeapMap(out, java.util.Set.of(java.util.Arrays.copyOfRange(words, 2, words.length))));
        } finally {
            agent.detach();
        }
    }
}
