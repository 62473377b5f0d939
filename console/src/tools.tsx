/** All tools with their grades, where those come from, and what is held. */
import { useState } from "react";
import type { ToolView } from "../../src/host/views.ts";
import type { Api } from "./api.ts";
import { Grade, Loaded } from "./parts.tsx";
import { useQuery, type Subscribe } from "./query.ts";

const CHANGES = ["catalog.refreshed", "config.reloaded"] as const;

export function Tools({ api, subscribe }: { readonly api: Api; readonly subscribe: Subscribe }) {
  const [query] = useQuery<{ tools: readonly ToolView[] }>(api, subscribe, "tools", CHANGES);
  const [search, setSearch] = useState("");
  return (
    <Loaded query={query}>
      {({ tools }) => {
        const words = search.toLowerCase().split(/\s+/u);
        const shown = tools.filter((tool) =>
          words.every((word) => `${tool.name} ${tool.description ?? ""}`.toLowerCase().includes(word)),
        );
        return (
          <>
            <label className="search">
              Search
              <input type="search" value={search} onChange={(event) => setSearch(event.target.value)} />
            </label>
            <p className="quiet">
              {shown.length} of {tools.length} tools. Descriptions are the servers' own words.
            </p>
            <table className="wide text">
              <thead>
                <tr>
                  <th scope="col">Tool</th>
                  <th scope="col">Grade</th>
                  <th scope="col">From</th>
                  <th scope="col">Definition</th>
                  <th scope="col">Description</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((tool) => (
                  <tr key={tool.name} className={tool.quarantine === null ? undefined : "held"}>
                    <th scope="row">{tool.name}</th>
                    <td>
                      <Grade grade={tool.grade} />
                    </td>
                    <td className="quiet">{tool.gradeFrom}</td>
                    <td>{tool.quarantine === null ? tool.pin : `held: ${tool.quarantine.reason}`}</td>
                    <td>{tool.description ?? tool.title ?? ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </>
        );
      }}
    </Loaded>
  );
}
