/** What each server is doing, and when it was last known to be well. */
import type { ServerStatus, StatusReport } from "../../src/host/views.ts";
import type { Api } from "./api.ts";
import { Loaded, Time } from "./parts.tsx";
import { useQuery, type Subscribe } from "./query.ts";

const CHANGES = ["connection.changed", "catalog.refreshed", "call.closed", "config.reloaded"] as const;

export function Servers({ api, subscribe }: { readonly api: Api; readonly subscribe: Subscribe }) {
  const [query, refresh] = useQuery<StatusReport>(api, subscribe, "status", CHANGES);
  const act = (operation: string, input: object): void => {
    void api.run(operation, input).finally(refresh);
  };
  return (
    <Loaded query={query}>
      {({ servers }) => (
        <>
          <div className="buttons">
            <button type="button" onClick={() => act("status", { check: true })}>
              Check all now
            </button>
            <button type="button" onClick={() => act("pause", {})}>
              Pause everything
            </button>
            <button type="button" onClick={() => act("resume", {})}>
              Resume everything
            </button>
          </div>
          <table className="wide">
            <thead>
              <tr>
                <th scope="col">Server</th>
                <th scope="col">State</th>
                <th scope="col">Revision</th>
                <th scope="col">Tools</th>
                <th scope="col">Last proof of life</th>
                <th scope="col">Breaker</th>
                <th scope="col">Restarts</th>
                <th scope="col">Do</th>
              </tr>
            </thead>
            <tbody>
              {servers.map((server) => (
                <tr key={server.name}>
                  <th scope="row">
                    {server.name} <span className="quiet">{server.transport}</span>
                  </th>
                  <td>
                    <span className={`state ${server.state}`}>{server.state}</span>
                    <p className="quiet">
                      {server.reason}; {server.next}
                    </p>
                  </td>
                  <td>{server.revision ?? "not known yet"}</td>
                  <td>{describeTools(server)}</td>
                  <td>
                    {server.lastHealthCheck === null ? (
                      "never"
                    ) : (
                      <>
                        <Time at={server.lastHealthCheck.at} />{" "}
                        {server.lastHealthCheck.ok
                          ? `${Math.round(server.lastHealthCheck.latencyMs)} ms`
                          : "failed"}
                      </>
                    )}
                  </td>
                  <td>
                    {server.breaker.state}
                    {server.breaker.failures > 0 ? `, ${server.breaker.failures} failures` : ""}
                  </td>
                  <td>{server.restarts}</td>
                  <td>
                    <button type="button" onClick={() => act("reconnect", { server: server.name })}>
                      Reconnect
                    </button>{" "}
                    {server.state === "paused" ? (
                      <button type="button" onClick={() => act("resume", { server: server.name })}>
                        Resume
                      </button>
                    ) : (
                      <button type="button" onClick={() => act("pause", { server: server.name })}>
                        Pause
                      </button>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </Loaded>
  );
}

function describeTools({ tools }: ServerStatus): string {
  if (tools.total === 0) return "none known";
  const grades = (["L0", "L1", "L2", "L3", "off"] as const)
    .filter((grade) => tools[grade] > 0)
    .map((grade) => `${tools[grade]} ${grade}`);
  return [...grades, ...(tools.quarantined > 0 ? [`${tools.quarantined} held`] : [])].join(", ");
}
