/**
 * Every duty of the specification that concerns a client or a host, by id, with what became of it. The texts are ours, not the
 * specification's; the ids are what tests cite. `requirements-coverage.test.ts` holds it.
 */
import { aext } from "./requirements/aext.ts";
import { apps } from "./requirements/apps.ts";
import { auth } from "./requirements/auth.ts";
import { base } from "./requirements/base.ts";
import { can } from "./requirements/can.ts";
import { cbp } from "./requirements/cbp.ts";
import { cch } from "./requirements/cch.ts";
import { dep } from "./requirements/dep.ts";
import { eli } from "./requirements/eli.ts";
import { gw } from "./requirements/gw.ts";
import { http } from "./requirements/http.ts";
import { httpl } from "./requirements/httpl.ts";
import { meta } from "./requirements/meta.ts";
import { mrtr } from "./requirements/mrtr.ts";
import { pag } from "./requirements/pag.ts";
import { prg } from "./requirements/prg.ts";
import { rpc } from "./requirements/rpc.ts";
import { sec } from "./requirements/sec.ts";
import { skill } from "./requirements/skill.ts";
import { stdio } from "./requirements/stdio.ts";
import { sub } from "./requirements/sub.ts";
import { task } from "./requirements/task.ts";
import { tool } from "./requirements/tool.ts";
import { ver } from "./requirements/ver.ts";
import type { Requirement } from "./requirements/requirement.ts";

export const requirements: readonly Requirement[] = [
  ...base,
  ...ver,
  ...meta,
  ...stdio,
  ...http,
  ...httpl,
  ...mrtr,
  ...can,
  ...prg,
  ...sub,
  ...pag,
  ...cch,
  ...tool,
  ...rpc,
  ...eli,
  ...dep,
  ...auth,
  ...aext,
  ...sec,
  ...task,
  ...apps,
  ...skill,
  ...cbp,
  ...gw,
];
