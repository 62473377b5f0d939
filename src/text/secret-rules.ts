/**
 * What secrets look like: one row per kind of token. Every pattern is linear by construction: it starts at the border of a
 * run of its own characters (look-behind), its parts do not overlap, and every repetition has a limit.
 */
import type { Severity } from "../vocabulary.ts";

export interface SecretRule {
  /** `secret.` and the kind. */
  readonly id: string;
  /** `low` where the form is unmistakable, `note` where it is a guess. A secret never blocks a result. */
  readonly severity: Severity;
  /** What it is, for the sentence of the finding. */
  readonly name: string;
  /** Where the pattern has a group `secret`, only that part is the secret. */
  readonly pattern: RegExp;
}

/** No pattern can match where none of these stands: one test instead of thirty. */
export const SECRET_HINT =
  /gh[opsru]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|hooks\.slack|A(?:KIA|SIA)[A-Z0-9]|AIza|GOCSPX-|ya29\.|sk-|[rs]k_(?:live|test)_|whsec_|npm_|pypi-|SG\.|hf_|ntn_|lin_api_|shp(?:at|ca|pa|ss)_|do[opr]_v1_|dapi|key-|eyJ|-----BEGIN|:\/\/|AccountKey|SharedAccess|\d:AA|bearer|basic|passw|pwd|secret|token|api.?key|private.?key|credential|authorization|age-secret/i;

/** `[A-Za-z0-9_-]` does not come before. */
const EDGE = "(?<![A-Za-z0-9_-])";

function rule(kind: string, severity: Severity, name: string, source: string, flags = ""): SecretRule {
  return { id: `secret.${kind}`, severity, name, pattern: new RegExp(source, `g${flags}`) };
}

export const SECRET_RULES: readonly SecretRule[] = [
  rule(
    "private-key",
    "low",
    "a private key",
    "-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----[^-]{0,16384}(?:-----END (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----)?",
  ),
  rule(
    "github-token",
    "low",
    "a GitHub token",
    `${EDGE}(?:gh[opsru]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{22,255})`,
  ),
  rule("gitlab-token", "low", "a GitLab token", `${EDGE}glpat-[A-Za-z0-9_-]{20,128}`),
  rule(
    "slack-token",
    "low",
    "a Slack token",
    `${EDGE}(?:xox[abeoprs]-[A-Za-z0-9-]{10,256}|xapp-\\d-[A-Za-z0-9-]{10,256})`,
  ),
  rule(
    "slack-webhook",
    "low",
    "a Slack webhook address",
    "hooks\\.slack\\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,128}",
  ),
  rule(
    "aws-access-key",
    "low",
    "an AWS access key id",
    "(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])",
  ),
  rule("google-api-key", "low", "a Google API key", `${EDGE}AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])`),
  rule(
    "google-oauth",
    "low",
    "a Google OAuth secret",
    `${EDGE}(?:GOCSPX-[A-Za-z0-9_-]{20,64}|ya29\\.[A-Za-z0-9_-]{20,512})`,
  ),
  rule("anthropic-key", "low", "an Anthropic API key", `${EDGE}sk-ant-[A-Za-z0-9_-]{20,256}`),
  rule(
    "openai-key",
    "low",
    "an API key of the form sk-…",
    `${EDGE}sk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1|live|test)-)?[A-Za-z0-9_-]{20,256}`,
  ),
  rule(
    "stripe-key",
    "low",
    "a Stripe key",
    `${EDGE}(?:[rs]k_(?:live|test)_[A-Za-z0-9]{16,256}|whsec_[A-Za-z0-9+/=]{16,128})`,
  ),
  rule("npm-token", "low", "an npm token", `${EDGE}npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])`),
  rule("pypi-token", "low", "a PyPI token", `${EDGE}pypi-AgE[A-Za-z0-9_-]{40,512}`),
  rule("sendgrid-key", "low", "a SendGrid key", `${EDGE}SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}`),
  rule("hugging-face-token", "low", "a Hugging Face token", `${EDGE}hf_[A-Za-z0-9]{30,64}(?![A-Za-z0-9])`),
  rule("notion-token", "low", "a Notion token", `${EDGE}ntn_[A-Za-z0-9]{40,64}`),
  rule("linear-key", "low", "a Linear API key", `${EDGE}lin_api_[A-Za-z0-9]{32,64}`),
  rule("shopify-token", "low", "a Shopify token", `${EDGE}shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}`),
  rule("digitalocean-token", "low", "a DigitalOcean token", `${EDGE}do[opr]_v1_[a-f0-9]{64}`),
  rule("databricks-token", "low", "a Databricks token", `${EDGE}dapi[a-f0-9]{32}(?![a-f0-9])`),
  rule(
    "telegram-token",
    "low",
    "a Telegram bot token",
    "(?<![A-Za-z0-9])\\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])",
  ),
  rule("age-key", "low", "an age key", "AGE-SECRET-KEY-1[A-Z0-9]{58}"),
  rule(
    "jwt",
    "low",
    "a JSON web token",
    `${EDGE}eyJ[A-Za-z0-9_-]{10,4096}\\.eyJ[A-Za-z0-9_-]{10,8192}\\.[A-Za-z0-9_-]{0,2048}`,
  ),
  rule(
    "connection-string",
    "low",
    "an address with a password in it",
    "(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\\s:@/\"'<>\\\\]{0,256}:(?<secret>[^\\s@/\"'<>\\\\]{1,256})@",
  ),
  rule(
    "azure-key",
    "low",
    "an Azure account key",
    "(?:AccountKey|SharedAccessKey|SharedAccessSignature)=(?<secret>[A-Za-z0-9+/=%]{20,256})",
  ),
  rule(
    "authorization",
    "low",
    "an authorization header",
    "(?<![a-z0-9])(?:authorization[\"']?\\s{0,4}[:=]\\s{0,4}[\"']?(?:(?:bearer|basic|token|digest)\\s{1,4})?|bearer\\s{1,4})(?<secret>[a-z0-9._~+/=-]{16,4096})",
    "i",
  ),
  rule(
    "assignment",
    "note",
    "a value named like a secret",
    "(?:passw(?:or)?d|passphrase|pwd|secret(?:[_ -]?(?:access)?[_ -]?key)?|api[_ -]?key|access[_ -]?key|auth[_ -]?token|access[_ -]?token|refresh[_ -]?token|client[_ -]?secret|private[_ -]?key|token)[\"']?\\s{0,4}(?:[:=]|=>)\\s{0,4}(?:\\\\?[\"'](?<quoted>[^\\s\"'\\\\]{8,256})|(?<plain>[A-Za-z0-9_+/=.~!@#$%^&*-]{8,256}))",
    "i",
  ),
];

/** Names of members and headers whose value is a secret whatever it looks like; compared in lower case without `_` and `-`. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  "authorization",
  "proxyauthorization",
  "cookie",
  "setcookie",
  "password",
  "passwd",
  "passphrase",
  "pwd",
  "secret",
  "clientsecret",
  "secretkey",
  "secretaccesskey",
  "apikey",
  "xapikey",
  "accesskey",
  "accesstoken",
  "refreshtoken",
  "idtoken",
  "authtoken",
  "bearertoken",
  "sessiontoken",
  "privatekey",
  "signingkey",
  "encryptionkey",
  "credential",
  "credentials",
  "codeverifier",
  "clientassertion",
]);

const SHORTEST_SECRET_NAME = "pwd".length;

/** True where the value of a member of this name is kept out of records. */
export function isSecretName(name: string): boolean {
  if (name.length < SHORTEST_SECRET_NAME || name.length > 64) return false;
  return SECRET_NAMES.has(name) || SECRET_NAMES.has(name.replace(/[_\s-]/g, "").toLowerCase());
}
