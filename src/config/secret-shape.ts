/**
 * Does a literal look like a secret? Conservative on purpose: known prefixes, credentials inside URLs, and high entropy under
 * names such as TOKEN. A match is a warning with a fix, and the literal is masked wherever the configuration is shown.
 * Linear time: every pattern is anchored or bounded.
 */

/** Prefixes that issuers gave their tokens so that they can be found. */
const KNOWN_SHAPES: readonly { readonly kind: string; readonly shape: RegExp }[] = [
  {
    kind: "a GitHub token",
    shape: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_[A-Za-z0-9_]{20,255})/,
  },
  { kind: "a GitLab token", shape: /(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{16,255}/ },
  { kind: "an API key", shape: /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,255}/ },
  { kind: "a Stripe key", shape: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/ },
  { kind: "a Slack token", shape: /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,255}/ },
  { kind: "an AWS access key", shape: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])/ },
  { kind: "a Google API key", shape: /(?<![A-Za-z0-9])AIza[A-Za-z0-9_-]{35}/ },
  { kind: "an npm token", shape: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,255}/ },
  { kind: "a Notion token", shape: /(?<![A-Za-z0-9])(?:ntn_|secret_)[A-Za-z0-9]{30,255}/ },
  { kind: "a Linear key", shape: /(?<![A-Za-z0-9])lin_api_[A-Za-z0-9]{20,255}/ },
  { kind: "a SendGrid key", shape: /(?<![A-Za-z0-9])SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64}/ },
  {
    kind: "a JSON Web Token",
    shape: /(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  },
  { kind: "a private key", shape: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/ },
];

const PASSWORD_NAME = /pass(?:word|wd|phrase)|(?:^|[_-])pwd(?:$|[_-])/i;
const SECRET_NAME =
  /token|secret|passw|pwd|credential|authorization|cookie|api[-_]?key|access[-_]?key|private[-_]?key|(?:^|[_-])key$/i;

/** Credentials inside a URL: `scheme://user:password@host`. */
const URL_PASSWORD = /(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,30}:\/\/[^/?#@:\s]{0,200}:([^/?#@\s]{1,200})@/i;

const MIN_RANDOM_LENGTH = 16;
const MIN_RANDOM_BITS = 3;

/**
 * What `text` looks like (`a GitHub token`), or `null`. References (`${…}`) in it do not count: they are no literals.
 *
 * @param name of the variable, header or argument that holds it; `null` where it has none.
 */
export function describeSecretShape(name: string | null, text: string): string | null {
  const literal = text.replaceAll(/\$\{[^}]{0,4096}\}/g, "");
  for (const { kind, shape } of KNOWN_SHAPES) if (shape.test(literal)) return kind;
  if (URL_PASSWORD.test(literal)) return "a URL with a password";
  if (name === null || !SECRET_NAME.test(name)) return null;
  const value = literal.replace(/^(?:bearer|basic|token)\s+/i, "").trim();
  if (PASSWORD_NAME.test(name) && /^\S{4,}$/.test(value) && !/^(?:true|false|none|null)$/i.test(value)) {
    return "a password";
  }
  return looksRandom(value) ? "a secret" : null;
}

/** Long, without spaces, letters and digits mixed, and at least three bits of entropy per character. */
function looksRandom(value: string): boolean {
  if (value.length < MIN_RANDOM_LENGTH || /\s/.test(value)) return false;
  if (!/[0-9]/.test(value) || !/[A-Za-z]/.test(value)) return false;
  // A path or a plain address under a name such as KEY_FILE is no secret.
  if (/^(?:[./~]|[A-Za-z]:\\|https?:\/\/)/.test(value)) return false;
  return entropyBits(value) >= MIN_RANDOM_BITS;
}

function entropyBits(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** `text`, or what it looks like where that is a secret. */
export function maskSecret(text: string, name: string | null = null): string {
  const shape = describeSecretShape(name, text);
  return shape === null ? text : `[${shape}, not shown]`;
}

/** A literal in a message: JSON, at most 60 characters, and nothing of what looks like a secret. */
export function quoteLiteral(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value) : (JSON.stringify(value) ?? typeof value);
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "a list" : "an object";
  if (typeof value === "string" && describeSecretShape("token", value) !== null)
    return "a text that looks like a secret";
  return `\`${text.length > 60 ? `${text.slice(0, 60)}…` : text}\``;
}
