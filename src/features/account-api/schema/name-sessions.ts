/** Names that users give their applications and chat clients (account-graphql 5.4). */
import { renameCompatSession } from '#domain/compat-sessions/rename-compat-session.ts';
import { tellDeviceName } from '#domain/homeserver/rename-device.ts';
import { renameOAuth2Session } from '#domain/oauth-sessions/rename-oauth2-session.ts';
import type { AccountContext } from '../context/account-context.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { builder } from './builder.ts';
import { findCompatSession, findOauth2Session } from './find-objects.ts';
import { CompatSession, type CompatSessionModel, Oauth2Session, type Oauth2SessionModel } from './models.ts';
import { idOf } from './node.ts';

const STATUSES = ['NOT_FOUND', 'UPDATED'] as const;
/** The longest device name that a homeserver accepts. */
const MAX_CHARACTERS = 100;

interface Renamed<Model> {
  readonly status: (typeof STATUSES)[number];
  readonly session?: Model | undefined;
}

const SetCompatSessionNameStatus = builder.enumType('SetCompatSessionNameStatus', { values: STATUSES });
const SetCompatSessionNameInput = builder.inputType('SetCompatSessionNameInput', {
  fields: (t) => ({
    compatSessionId: t.id({ required: true }),
    humanName: t.string({ required: true, description: `1 to ${MAX_CHARACTERS} characters.` }),
  }),
});
const SetCompatSessionNamePayload = builder
  .objectRef<Renamed<CompatSessionModel>>('SetCompatSessionNamePayload')
  .implement({
    fields: (t) => ({
      status: t.expose('status', { type: SetCompatSessionNameStatus }),
      compatSession: t.field({ type: CompatSession, nullable: true, resolve: ({ session }) => session }),
      oauth2Session: t.field({
        type: CompatSession,
        nullable: true,
        description: 'Alias of compatSession, for older clients.',
        resolve: ({ session }) => session,
      }),
    }),
  });

const SetOAuth2SessionNameStatus = builder.enumType('SetOAuth2SessionNameStatus', { values: STATUSES });
const SetOAuth2SessionNameInput = builder.inputType('SetOAuth2SessionNameInput', {
  fields: (t) => ({
    oauth2SessionId: t.id({ required: true }),
    humanName: t.string({ required: true, description: `1 to ${MAX_CHARACTERS} characters.` }),
  }),
});
const SetOAuth2SessionNamePayload = builder
  .objectRef<Renamed<Oauth2SessionModel>>('SetOAuth2SessionNamePayload')
  .implement({
    fields: (t) => ({
      status: t.expose('status', { type: SetOAuth2SessionNameStatus }),
      oauth2Session: t.field({ type: Oauth2Session, nullable: true, resolve: ({ session }) => session }),
    }),
  });

builder.mutationFields((t) => ({
  setCompatSessionName: t.field({
    type: SetCompatSessionNamePayload,
    description: 'Names a session of a chat client. The name is also the public name of the device.',
    args: { input: t.arg({ type: SetCompatSessionNameInput, required: true }) },
    resolve: async (_, { input }, context) => {
      const id = idOf('CompatSession', input.compatSessionId);
      const name = parseName(input.humanName);
      const { core, reads } = context;
      const renamed = reads === undefined ? undefined : await renameCompatSession(core.database, id, reads, name);
      if (renamed === undefined) return { status: 'NOT_FOUND' as const };
      await tell(renamed, name, context);
      return { status: 'UPDATED' as const, session: await findCompatSession(id, context) };
    },
  }),
  setOauth2SessionName: t.field({
    type: SetOAuth2SessionNamePayload,
    description: 'Names a session of a client. The name is also the public name of its device, if any.',
    args: { input: t.arg({ type: SetOAuth2SessionNameInput, required: true }) },
    resolve: async (_, { input }, context) => {
      const id = idOf('Oauth2Session', input.oauth2SessionId);
      const name = parseName(input.humanName);
      const { core, reads } = context;
      const renamed = reads === undefined ? undefined : await renameOAuth2Session(core.database, id, reads, name);
      if (renamed === undefined) return { status: 'NOT_FOUND' as const };
      await tell(renamed, name, context);
      return { status: 'UPDATED' as const, session: await findOauth2Session(id, context) };
    },
  }),
}));

type RenamedSession = NonNullable<Awaited<ReturnType<typeof renameOAuth2Session>>>;

async function tell({ user, deviceId }: RenamedSession, name: string, context: AccountContext): Promise<void> {
  context.forget();
  if (user !== undefined && deviceId !== undefined) await tellDeviceName(context.core, { user, deviceId, name });
}

/** Trims and validates a name. @throws GraphQLError `BAD_USER_INPUT` */
function parseName(text: string): string {
  const name = text.trim();
  const { length } = [...name];
  if (length === 0 || length > MAX_CHARACTERS || /\p{Cc}/u.test(name))
    throw refusal('BAD_USER_INPUT', `humanName must have 1 to ${MAX_CHARACTERS} characters and no control characters`);
  return name;
}
