// SPDX-License-Identifier: Apache-2.0
//! Where libcyclops is, if the linker does not know: `CYCLOPS_LIB_DIR`.

fn main() {
    println!("cargo:rerun-if-env-changed=CYCLOPS_LIB_DIR");
    if let Ok(folder) = std::env::var("CYCLOPS_LIB_DIR") {
        println!("cargo:rustc-link-search=native={}", folder);
    }
}
