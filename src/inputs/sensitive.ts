/**
 * Whether a field asks for what no form may ask for: passwords, keys, tokens, card numbers (client/elicitation#form-mode-security).
 * By the words of its name and title, in the spelling of a scanner: look-alike letters and hidden characters do not help.
 */
import { foldLiteral, normalizeForScan } from "../text/fold.ts";

/** One word is enough. */
const WORDS = words(
  `password passwords passwd passphrase passcode pwd secret secrets otp totp mfa 2fa tfa cvv cvc cvv2 csc ssn credential
  credentials apikey accesskey privatekey secretkey mnemonic pincode passwort kennwort contrasena senha wachtwoord haslo heslo
  salasana jelszo sifre пароль`,
);
/** Written without spaces around them. */
const PARTS = [
  "密码",
  "密碼",
  "口令",
  "パスワード",
  "暗証番号",
  "비밀번호",
  "암호",
  "סיסמה",
  "كلمة المرور",
].map((part) => foldLiteral(part));
/** Words next to each other. */
const PHRASES = [
  "api key",
  "access key",
  "private key",
  "secret key",
  "signing key",
  "encryption key",
  "ssh key",
  "license key",
  "access token",
  "auth token",
  "bearer token",
  "refresh token",
  "session token",
  "id token",
  "session cookie",
  "one time code",
  "one time pass",
  "verification code",
  "security code",
  "recovery code",
  "backup code",
  "two factor",
  "card number",
  "credit card",
  "debit card",
  "account number",
  "pin code",
  "pin number",
  "seed phrase",
  "recovery phrase",
  "social security",
  "mot de passe",
  "clave de acceso",
  "parola d ordine",
];
/** Only where the field is called nothing else. */
const WHOLE = words("pin token auth authorization cookie iban pass");

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/u).map((word) => foldLiteral(word).trim()));
}

const FOLDED_PHRASES = PHRASES.map((phrase) => ` ${foldLiteral(phrase)} `);

/** True for a name or title such as `apiKey`, `Your password`, `card_number`. */
export function namesSecret(text: string): boolean {
  const apart = text.slice(0, MAX_READ).replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2");
  return [apart, text.slice(0, MAX_READ)].some((spelling) => {
    const flat = ` ${foldLiteral(normalizeForScan(spelling))
      .split(" ")
      .filter((part) => part !== "")
      .join(" ")} `;
    const parts = flat.trim().split(" ");
    if (parts.some((part) => WORDS.has(part)) || WHOLE.has(flat.trim())) return true;
    return [...FOLDED_PHRASES, ...PARTS].some((phrase) => flat.includes(phrase));
  });
}

const MAX_READ = 1_000;
