/**
 * The key to the admin API: it comes in the link that `portcullis serve` prints, behind the `#`, so that it is sent to nobody, and
 * is kept for this tab alone. It goes out as a header; there is no cookie, so no other page can use it.
 */
const KEY = "portcullis-token";

/** Takes the token out of the address, once. */
export function readToken(): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null && given !== "") {
    sessionStorage.setItem(KEY, given);
    history.replaceState(null, "", location.pathname + location.search);
  }
  return sessionStorage.getItem(KEY);
}

/** The token in what a person pasted: the link, or the token alone; `null` where it is neither. */
export function tokenIn(pasted: string): string | null {
  const text = pasted.trim();
  const token = /#token=([^&\s]+)$/u.exec(text)?.[1] ?? text;
  return /^[\w-]+$/u.test(token) ? token : null;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}
