import type { ClientId, UserId } from '#platform/base/ids.ts';

/** Who acts for a person, with those before who had the token that was exchanged (RFC 8693 4.1). As stored in `act`. */
export interface Actor {
  readonly client_id: ClientId;
  /** The person whose token the client brought as that of the actor. */
  readonly user_id?: UserId;
  readonly act?: Actor;
}

/** Actors one behind the other. A service that is called calls others, but not without an end. */
const MAX_ACTORS = 4;

/** The claim `act` (RFC 8693 4.1). */
export interface ActorClaim {
  readonly sub?: string;
  readonly client_id?: string;
  readonly act?: ActorClaim;
}

/** @param subjectOf of the reader of the claim */
export function actorClaim({ client_id, user_id, act }: Actor, subjectOf: (user: UserId) => string): ActorClaim {
  const who = user_id === undefined ? { client_id } : { sub: subjectOf(user_id) };
  return act === undefined ? who : { ...who, act: actorClaim(act, subjectOf) };
}

/** Undefined: there would be too many. */
export function withActor(actor: Omit<Actor, 'act'>, before: Actor | undefined): Actor | undefined {
  let depth = 1;
  for (let known = before; known !== undefined; known = known.act) depth += 1;
  if (depth > MAX_ACTORS) return undefined;
  return before === undefined ? actor : { ...actor, act: before };
}
