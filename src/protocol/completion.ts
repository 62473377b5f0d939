/** `completion/complete`, both eras. */

type CompletionReference =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string };

export interface CompletionParams {
  readonly ref: CompletionReference;
  readonly argument: { readonly name: string; readonly value: string };
  /** Arguments that were already settled. */
  readonly context?: { readonly arguments: Readonly<Record<string, string>> };
}

export interface Completion {
  /** At most 100. */
  readonly values: readonly string[];
  readonly total?: number;
  readonly hasMore?: boolean;
}
