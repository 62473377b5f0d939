/** Compiled options are frozen: whoever holds them may share them. */

/** Freezes `value` and everything in it; maps keep their type and lose their means of change. */
export function freezeDeep<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (value instanceof Map) {
    for (const member of value.values()) freezeDeep(member);
    const refuse = (): never => {
      throw new TypeError("the configuration is frozen");
    };
    Object.assign(value, { set: refuse, delete: refuse, clear: refuse });
  } else {
    for (const member of Object.values(value)) freezeDeep(member);
  }
  return Object.freeze(value);
}
