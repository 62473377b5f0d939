/** How content at rest is encrypted: given by whoever has the key, so that nothing here knows one. */
export interface Sealer {
  /** @param context is bound to the text: what was sealed under one context does not open under another. */
  seal(plain: string, context: string): string | Promise<string>;
  /** `undefined` for what cannot be opened: another key, another context, changed. */
  open(sealed: string, context: string): string | undefined | Promise<string | undefined>;
}
