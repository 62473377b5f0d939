/**
 * A program that has OpenTelemetry already, and sees its governed calls in its own traces. Run it with
 *
 *   node --conditions=source examples/opentelemetry.ts
 *
 * Here spans are kept and printed; yours go to your collector.
 */
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openHost } from "portcullis";
import { observeHost } from "portcullis/otel";

const folder = await mkdtemp(join(tmpdir(), "portcullis-example-"));
await writeFile(join(folder, "list.txt"), "milk\n");
const exporter = new InMemorySpanExporter();
const tracerProvider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });

const host = await openHost({
  config: {
    mcpServers: {
      files: {
        source: "official",
        command: "./node_modules/.bin/mcp-server-filesystem",
        args: [folder],
        tools: { "read_*": "L0" },
      },
    },
  },
  stateDir: join(folder, "state"),
});

// #region observe
const end = observeHost(host, { tracerProvider }); // left out: the providers that are registered globally
// #endregion

const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
const turn = host.turn();
// #region trace
await turn.call("files__read_text_file", { path: join(folder, "list.txt") }, { trace });
// #endregion
await turn.close();

// #region end
await host.close();
end();
// #endregion

for (const span of exporter.getFinishedSpans()) {
  console.log(`${span.name} in ${span.spanContext().traceId}, below ${span.parentSpanContext?.spanId}`);
}
await tracerProvider.shutdown();
await rm(folder, { recursive: true, force: true });
