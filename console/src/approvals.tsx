/** What waits for an answer: the sentence first, the arguments as a table, where values came from, and the buttons. */
import { useEffect, useState } from "react";
import type { ApprovalView } from "../../src/approvals/view.ts";
import type { Api } from "./api.ts";
import { Grade, Loaded } from "./parts.tsx";
import { APPROVAL_CHANGES, toApiError, useQuery, type Subscribe } from "./query.ts";

interface PageProps {
  readonly api: Api;
  readonly subscribe: Subscribe;
}

export function Approvals({ api, subscribe }: PageProps) {
  const [query, refresh] = useQuery<{ approvals: readonly ApprovalView[] }>(
    api,
    subscribe,
    "approvals",
    APPROVAL_CHANGES,
  );
  return (
    <Loaded query={query}>
      {({ approvals }) =>
        approvals.length === 0 ? (
          <p className="quiet">Nothing waits for an answer.</p>
        ) : (
          <ul className="cards">
            {approvals.map((approval) => (
              <li key={approval.id}>
                <Card api={api} approval={approval} onDone={refresh} />
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  );
}

function Card({
  api,
  approval,
  onDone,
}: {
  readonly api: Api;
  readonly approval: ApprovalView;
  readonly onDone: () => void;
}) {
  const [without, setWithout] = useState<ReadonlySet<number>>(new Set());
  const [typed, setTyped] = useState("");
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const answer = async (operation: "approve" | "deny"): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      const input =
        operation === "deny"
          ? { id: approval.id, ...(reason === "" ? {} : { reason }) }
          : { id: approval.id, without: [...without], ...(typed === "" ? {} : { confirm: typed }) };
      await api.run(operation, input);
    } catch (error) {
      setProblem(toApiError(error).message);
    }
    setBusy(false);
    onDone();
  };

  const toggle = (number: number): void => {
    const next = new Set(without);
    if (!next.delete(number)) next.add(number);
    setWithout(next);
  };

  return (
    <article className="card" aria-label={approval.sentence}>
      <h2>
        <Grade grade={approval.grade} /> {approval.sentence}
      </h2>
      {approval.claim === null ? null : <p className="quiet">{approval.claim}</p>}
      {approval.items === null ? null : (
        <fieldset>
          <legend>Take out what should not happen</legend>
          {approval.items.map((item) => (
            <label key={item.number}>
              <input
                type="checkbox"
                checked={!without.has(item.number)}
                onChange={() => toggle(item.number)}
              />{" "}
              {item.text}
            </label>
          ))}
        </fieldset>
      )}
      <table>
        <caption>What would be sent</caption>
        <tbody>
          {approval.details.map((row) => (
            <tr key={row.where} className={row.origins.length > 0 ? "from-tool" : undefined}>
              <th scope="row">{row.name}</th>
              <td>
                {row.isFolded ? (
                  <details>
                    <summary>{row.characters} characters</summary>
                    <pre>{row.value}</pre>
                  </details>
                ) : (
                  <span className="value">{row.value}</span>
                )}
                {row.change === "changed" ? <p className="quiet">last time: {row.before}</p> : null}
                {row.origins.map((origin) => (
                  <p key={origin} className="origin">
                    {origin}
                  </p>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="reasons">
        {approval.reasons.map((why) => (
          <li key={why.rule + why.message}>{why.message}</li>
        ))}
      </ul>
      {approval.toType === null ? null : (
        <label className="typed">
          Two confirmations: type <code>{approval.toType}</code>
          <input value={typed} onChange={(event) => setTyped(event.target.value)} autoComplete="off" />
        </label>
      )}
      {problem === null ? null : (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      <div className="buttons">
        <button
          type="button"
          className="yes"
          disabled={isBusy || (approval.toType !== null && typed !== approval.toType)}
          onClick={() => void answer("approve")}
        >
          Approve
        </button>
        <button type="button" disabled={isBusy} onClick={() => void answer("deny")}>
          Deny
        </button>
        <input
          aria-label="Reason for denying (told to the model)"
          placeholder="why not (told to the model)"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          maxLength={500}
        />
        <Countdown until={approval.expiresAt} /> <span className="quiet">for {approval.principal}</span>
      </div>
    </article>
  );
}

function Countdown({ until }: { readonly until: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const leftS = Math.max(0, Math.round((until - now) / 1_000));
  return (
    <span className="quiet" aria-label={`${leftS} seconds left`}>
      {Math.floor(leftS / 60)}:{String(leftS % 60).padStart(2, "0")} left
    </span>
  );
}
