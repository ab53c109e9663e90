/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Applies a merge patch to an object: members of the patch replace those of the object, objects are merged, and `null`
 * removes a member.
 * @see RFC 7396 section 2
 */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const merged = new Map(Object.entries(target));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, isJsonObject(value) ? mergePatch(objectOr(merged.get(name)), value) : value);
  }
  return Object.fromEntries(merged);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOr(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
