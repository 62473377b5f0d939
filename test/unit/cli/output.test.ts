import { expect, it } from "vitest";
import { PortcullisError } from "../../../src/errors.ts";
import { createOutput } from "../../../src/cli/output.ts";

function outputOf() {
  const written = { stdout: "", stderr: "" };
  const streams = {
    stdout: { write: (text: string) => (written.stdout += text) },
    stderr: { write: (text: string) => (written.stderr += text) },
    isInteractive: false,
  };
  return { written, output: createOutput(streams, true) };
}

const error = new PortcullisError("state_unusable", "the disk is full");

it("with --json an error is the one document", () => {
  const { written, output } = outputOf();
  expect(output.fail(error)).toBe(70);
  expect(JSON.parse(written.stdout)).toMatchObject({ error: { code: "state_unusable" } });
});

it("with --json an error after the result leaves the result the one document", () => {
  const { written, output } = outputOf();
  output.result({ outcome: "completed" }, () => "");
  expect(output.fail(error)).toBe(70);
  expect(JSON.parse(written.stdout)).toEqual({ outcome: "completed" });
  expect(written.stderr).toContain("the disk is full");
});
