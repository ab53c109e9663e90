import type { AccountContext } from '../context/account-context.ts';
import { builder } from './builder.ts';
import { parseUserAgent } from './parse-user-agent.ts';
import { UserAgent } from './user-agent.ts';

export const SessionState = builder.enumType('SessionState', { values: ['ACTIVE', 'FINISHED'] as const });

const DateFilter = builder.inputType('DateFilter', {
  description: 'Period between two times, both exclusive.',
  fields: (t) => ({ after: t.field({ type: 'DateTime' }), before: t.field({ type: 'DateTime' }) }),
});

/** Filter arguments of session lists. */
export const SESSION_FILTERS = builder.args((t) => ({
  state: t.field({ type: SessionState }),
  lastActive: t.field({ type: DateFilter }),
}));

export interface SessionFilterArguments {
  readonly state?: 'ACTIVE' | 'FINISHED' | null | undefined;
  readonly lastActive?:
    | { readonly after?: number | null | undefined; readonly before?: number | null | undefined }
    | null
    | undefined;
}

/** Converts the filter arguments to the form that the domain uses. */
export function sessionFilter({ state, lastActive }: SessionFilterArguments) {
  return {
    isLive: state === undefined || state === null ? undefined : state === 'ACTIVE',
    activeAfter: lastActive?.after ?? undefined,
    activeBefore: lastActive?.before ?? undefined,
  };
}

/** Fields common to all kinds of sessions. Times in milliseconds since the epoch. */
export interface AnySession {
  readonly finishedAt: number | undefined;
  readonly userAgent: string | undefined;
  readonly lastActiveAt: number | undefined;
  readonly lastActiveAddress: string | undefined;
}

/**
 * Adds the fields that all kinds of sessions share.
 * @param read reads the fields if the model does not have them itself
 */
export function addSessionFields<Model>(
  session: PothosSchemaTypes.ObjectRef<typeof builder.$inferSchemaTypes, Model>,
  read: (model: Model, context: AccountContext) => AnySession | Promise<AnySession>,
): void {
  const from =
    <Value>(pick: (found: AnySession) => Value) =>
    (model: Model, _: unknown, context: AccountContext): Value | Promise<Value> => {
      const found = read(model, context);
      return found instanceof Promise ? found.then(pick) : pick(found);
    };
  builder.objectFields(session, (t) => ({
    finishedAt: t.field({ type: 'DateTime', nullable: true, resolve: from(({ finishedAt }) => finishedAt) }),
    state: t.field({
      type: SessionState,
      resolve: from(({ finishedAt }) => (finishedAt === undefined ? ('ACTIVE' as const) : ('FINISHED' as const))),
    }),
    userAgent: t.field({
      type: UserAgent,
      nullable: true,
      resolve: from(({ userAgent }) => (userAgent === undefined ? undefined : parseUserAgent(userAgent))),
    }),
    lastActiveAt: t.field({ type: 'DateTime', nullable: true, resolve: from(({ lastActiveAt }) => lastActiveAt) }),
    lastActiveIp: t.string({ nullable: true, resolve: from(({ lastActiveAddress }) => lastActiveAddress) }),
  }));
}
