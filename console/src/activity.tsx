/** What was called, how it ended and what it did to the world, newest first. */
import type { ActivityView } from "../../src/host/views.ts";
import type { Api } from "./api.ts";
import { Grade, Loaded, Time } from "./parts.tsx";
import { useQuery, type Subscribe } from "./query.ts";

const CHANGES = ["call.opened", "call.closed", "call.answered-late"] as const;

export function Activity({ api, subscribe }: { readonly api: Api; readonly subscribe: Subscribe }) {
  const [query] = useQuery<{ calls: readonly ActivityView[] }>(api, subscribe, "activity", CHANGES);
  return (
    <Loaded query={query}>
      {({ calls }) =>
        calls.length === 0 ? (
          <p className="quiet">No calls yet.</p>
        ) : (
          <table className="wide">
            <thead>
              <tr>
                <th scope="col">At</th>
                <th scope="col">Tool</th>
                <th scope="col">Grade</th>
                <th scope="col">Outcome</th>
                <th scope="col">Effect</th>
                <th scope="col">Took</th>
                <th scope="col">For</th>
                <th scope="col">Approved by</th>
              </tr>
            </thead>
            <tbody>
              {calls.map((call) => (
                <tr key={call.callId}>
                  <td>
                    <Time at={call.at} />
                  </td>
                  <th scope="row">
                    {call.server} {call.tool}
                  </th>
                  <td>
                    <Grade grade={call.grade} />
                  </td>
                  <td>
                    {call.outcome}
                    {call.code === null || call.code === call.outcome ? null : (
                      <span className="quiet"> {call.code}</span>
                    )}
                  </td>
                  <td>
                    <span className={`effect ${call.effect}`}>{call.effect}</span>
                  </td>
                  <td>{call.durationMs === null ? "" : `${Math.round(call.durationMs)} ms`}</td>
                  <td>{call.principal}</td>
                  <td>{call.approvedBy ?? ""}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )
      }
    </Loaded>
  );
}
