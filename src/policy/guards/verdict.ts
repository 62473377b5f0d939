/** What a guard answers. A guard looks at one argument and cannot see the others. */

export type GuardVerdict =
  | { readonly kind: "allow"; readonly guard: string; readonly argument: string }
  | {
      readonly kind: "rewrite";
      readonly guard: string;
      readonly argument: string;
      readonly before: unknown;
      readonly after: unknown;
      /** One plain sentence: what was changed. */
      readonly reason: string;
    }
  | {
      readonly kind: "deny";
      readonly guard: string;
      readonly argument: string;
      /** One plain sentence: what is wrong, and what would pass. */
      readonly reason: string;
      /** True where the guard itself could not run. */
      readonly hasFailed: boolean;
    };

/** What one guard says about one value; the argument's name is added by the runner. */
export type ValueVerdict =
  | { readonly kind: "allow" }
  | { readonly kind: "rewrite"; readonly after: unknown; readonly reason: string }
  | { readonly kind: "deny"; readonly reason: string };

export const ALLOWED: ValueVerdict = Object.freeze({ kind: "allow" });

export function denied(reason: string): ValueVerdict {
  return { kind: "deny", reason };
}
