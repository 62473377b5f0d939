import { describe, expect, it } from "vitest";
import { readPasted } from "../../../src/auth/callback.ts";

describe("readPasted", () => {
  it.each([
    "http://127.0.0.1:4000/callback?code=c&state=s&iss=https%3A%2F%2Fas.example",
    "  https://app.example/done?code=c&state=s&iss=https%3A%2F%2Fas.example#x \n",
    "?code=c&state=s&iss=https%3A%2F%2Fas.example",
    "code=c&state=s&iss=https%3A%2F%2Fas.example",
  ])("takes %j", (text) => {
    expect(Object.fromEntries(readPasted(text) ?? [])).toEqual({
      code: "c",
      state: "s",
      iss: "https://as.example",
    });
  });

  it.each(["", "c", "http://127.0.0.1/", "code=c", `state=${"s".repeat(20_000)}`])(
    "refuses what holds no answer: %#",
    (text) => {
      expect(readPasted(text)).toBeUndefined();
    },
  );
});
