/**
 * How the answer to an authorization request comes back: through a listener that somebody else implements, or pasted by a
 * person. Nothing here listens, asks or opens anything.
 */

/** Where the browser is sent back to, while a login waits. */
export interface CallbackReceiver {
  /** Exactly as it is registered and sent. */
  readonly redirectUri: string;
  /**
   * The first answer that `isOurs` takes; all others are turned away and waited on. @param signal ends the waiting.
   * @throws the signal's reason.
   */
  receive(isOurs: (query: URLSearchParams) => boolean, signal: AbortSignal): Promise<URLSearchParams>;
  close(): Promise<void>;
}

const MAX_PASTED = 16_384;

/** What a person pasted: the whole address that the browser ended at, or the part behind its `?`. `undefined`: neither. */
export function readPasted(text: string): URLSearchParams | undefined {
  const trimmed = text.trim();
  if (trimmed.length > MAX_PASTED) return undefined;
  const query = /^https?:\/\//i.test(trimmed) ? (URL.parse(trimmed)?.search ?? "") : trimmed;
  const parameters = new URLSearchParams(query);
  return parameters.has("state") ? parameters : undefined;
}
