/** One answer of 9 MB, sent in pieces of 8 KiB: what reading it costs this process in CPU. */
import type { Contender } from "./contender.ts";
import { median } from "./rounds.ts";

const SIZE = 9_000_000;

export async function bigLineCpuMs(contender: Contender, rounds: number): Promise<number> {
  const connection = await contender.connect();
  try {
    await connection.call("big", { size: 1_000 });
    const samples: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const cpu = process.cpuUsage();
      const text = await connection.call("big", { size: SIZE });
      const used = process.cpuUsage(cpu);
      if (text.length !== SIZE) throw new Error("not the whole answer");
      samples.push((used.user + used.system) / 1_000);
    }
    return median(samples);
  } finally {
    await connection.close();
  }
}
