/** Who has no token yet is told how to get in, and may paste it. */
import { useState } from "react";
import { keepToken, tokenIn } from "./session.ts";

/** @param wasRefused whether the last token was not taken. */
export function SignIn({
  onToken,
  wasRefused,
}: {
  readonly onToken: (token: string) => void;
  readonly wasRefused: boolean;
}) {
  const [typed, setTyped] = useState("");
  const token = tokenIn(typed);
  return (
    <main className="sign-in">
      <h1>Portcullis</h1>
      {wasRefused ? (
        <p role="alert" className="problem">
          This gateway does not take that token (any more).
        </p>
      ) : null}
      <p>
        The console opens with the link that <code>portcullis serve</code> prints. While a gateway runs, the
        same command in another terminal prints its link again.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (token === null) return;
          keepToken(token);
          onToken(token);
        }}
      >
        <label htmlFor="token">The link, or the token in it</label>
        <input
          id="token"
          type="password"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        <button type="submit" disabled={token === null}>
          Open
        </button>
      </form>
    </main>
  );
}
