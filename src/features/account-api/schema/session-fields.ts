import { builder } from './builder.ts';
import { parseUserAgent } from './parse-user-agent.ts';
import { UserAgent } from './user-agent.ts';

export const SessionState = builder.enumType('SessionState', { values: ['ACTIVE', 'FINISHED'] as const });

const DateFilter = builder.inputType('DateFilter', {
  description: 'Times between these two, neither of which counts.',
  fields: (t) => ({ after: t.field({ type: 'DateTime' }), before: t.field({ type: 'DateTime' }) }),
});

/** Arguments by which lists of sessions are filtered. */
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

/** The same as the domain reads them. */
export function sessionFilter({ state, lastActive }: SessionFilterArguments) {
  return {
    isLive: state === undefined || state === null ? undefined : state === 'ACTIVE',
    activeAfter: lastActive?.after ?? undefined,
    activeBefore: lastActive?.before ?? undefined,
  };
}

/** What sessions of all kinds have. Times in milliseconds since the epoch. */
interface AnySession {
  readonly finishedAt: number | undefined;
  readonly userAgent: string | undefined;
  readonly lastActiveAt: number | undefined;
  readonly lastActiveAddress: string | undefined;
}

/** Gives the type of a session the fields that those of all kinds have. */
export function addSessionFields(
  session: PothosSchemaTypes.ObjectRef<typeof builder.$inferSchemaTypes, AnySession>,
): void {
  builder.objectFields(session, (t) => ({
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true }),
    state: t.field({
      type: SessionState,
      resolve: ({ finishedAt }) => (finishedAt === undefined ? ('ACTIVE' as const) : ('FINISHED' as const)),
    }),
    userAgent: t.field({
      type: UserAgent,
      nullable: true,
      resolve: ({ userAgent }) => (userAgent === undefined ? undefined : parseUserAgent(userAgent)),
    }),
    lastActiveAt: t.expose('lastActiveAt', { type: 'DateTime', nullable: true }),
    lastActiveIp: t.exposeString('lastActiveAddress', { nullable: true }),
  }));
}
