// SPDX-License-Identifier: Apache-2.0
// Modules of two runs.

/**
 * What modules of run b are called in run a. A program is often compared with a copy of another name: if each
 * run has one module that the other does not have, they are the same.
 */
export function renamed(a: readonly string[], b: readonly string[]): (module: string) => string {
  const only = (of: readonly string[], other: readonly string[]): string[] => [...new Set(of)].filter((m) => m !== "" && !other.includes(m));
  const [own, others] = [only(a, b), only(b, a)];
  return (module) => (own.length === 1 && others.length === 1 && module === others[0] ? own[0]! : module);
}
