import type { ClientId, UserId } from '#vocabulary/ids.ts';

/** The actor of a delegation and the prior actors (RFC 8693 4.1), as stored in `act`. */
export interface Actor {
  readonly client_id: ClientId;
  /** The user whose token the client presented as the actor token. */
  readonly user_id?: UserId;
  readonly act?: Actor;
}

/** Maximum length of the delegation chain. Services call other services, but not without limit. */
const MAX_ACTORS = 4;

/** The claim `act` (RFC 8693 4.1). */
export interface ActorClaim {
  readonly sub?: string;
  readonly client_id?: string;
  readonly act?: ActorClaim;
}

/** @param subjectOf returns subjects for the recipient of the claim */
export function actorClaim({ client_id, user_id, act }: Actor, subjectOf: (user: UserId) => string): ActorClaim {
  const who = user_id === undefined ? { client_id } : { sub: subjectOf(user_id) };
  return act === undefined ? who : { ...who, act: actorClaim(act, subjectOf) };
}

/** Adds an actor to the chain; undefined if the chain would become too long. */
export function withActor(actor: Omit<Actor, 'act'>, before: Actor | undefined): Actor | undefined {
  let depth = 1;
  for (let known = before; known !== undefined; known = known.act) depth += 1;
  if (depth > MAX_ACTORS) return undefined;
  return before === undefined ? actor : { ...actor, act: before };
}
