/* SPDX-License-Identifier: Apache-2.0 */

import java.lang.reflect.Field;
import sun.misc.Unsafe;

/** Says where two objects are, and what is at the address of a field; again when it is asked. See c2c_java.py. */
public final class HotFields {
    static class Counters {
        volatile long hits;
        volatile long misses;
        int[] rest;
    }

    static final class Pair extends Counters {
        short flag;
    }

    static final long LINE = 64; /* both fields, and two elements, are to be on one */
    static final long MARK = 0x1122334455667788L;
    static Pair pair;
    static long[] slots;
    static Unsafe unsafe;

    /** Pointers have 8 bytes, or with compressed ones in a heap below 4 GiB 4, not shifted. */
    static long addressOf(Object object) {
        Object[] holder = {object};
        long at = unsafe.arrayBaseOffset(Object[].class);
        boolean isWide = unsafe.arrayIndexScale(Object[].class) == 8;

        return isWide ? unsafe.getLong(holder, at) : unsafe.getInt(holder, at) & 0xffffffffL;
    }

    static void say() throws ReflectiveOperationException {
        long hits = unsafe.objectFieldOffset(Counters.class.getDeclaredField("hits"));
        long misses = unsafe.objectFieldOffset(Counters.class.getDeclaredField("misses"));
        long first = addressOf(slots) + unsafe.arrayBaseOffset(long[].class);
        boolean isTrue = unsafe.getLong(addressOf(pair) + hits) == MARK
                && unsafe.getLong(addressOf(pair) + misses) == ~MARK && unsafe.getLong(first + 8) == MARK;

        System.out.printf("%d %x %x %x %x %b%n", ProcessHandle.current().pid(), addressOf(pair), addressOf(pair) + hits,
                addressOf(pair) + misses, first, isTrue);
    }

    public static void main(String[] words) throws Exception {
        Field field = Unsafe.class.getDeclaredField("theUnsafe");

        field.setAccessible(true);
        unsafe = (Unsafe) field.get(null);
        do
            pair = new Pair();
        while (addressOf(pair) % LINE != 0);
        do
            slots = new long[5];
        while (addressOf(slots) % LINE != 0);
        pair.hits = MARK;
        pair.misses = ~MARK;
        slots[1] = MARK;
        while (true) {
            say();
            if (System.in.read() < 0)
                return;
        }
    }
}
