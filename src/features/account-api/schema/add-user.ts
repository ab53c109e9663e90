/** Accounts created by administrators (account-graphql 5.5). */
import { usernameProblems } from '#domain/accounts/account-names.ts';
import { findUserByName } from '#domain/accounts/find-user.ts';
import { checkHomeserverName } from '#domain/accounts/registrations/homeserver-name.ts';
import { registerUser } from '#domain/accounts/registrations/register-user.ts';
import { adminActor } from '#domain/audit/administrator.ts';
import { requireAdmin } from '../context/authorization.ts';
import { homeserverUnavailable } from '../context/graphql-refusal.ts';
import { recordAs } from '../context/record-action.ts';
import { User, userModel } from './models.ts';
import { mutation } from './mutation.ts';

mutation('addUser', {
  description: 'Creates an account without a password. Administrators only.',
  input: (t) => ({
    username: t.string({ required: true }),
    skipHomeserverCheck: t.boolean({
      description: 'Skips checking with the homeserver whether the username is available.',
    }),
  }),
  statuses: ['ADDED', 'EXISTS', 'RESERVED', 'INVALID'],
  payload: { user: { type: User } },
  resolve: async ({ username, skipHomeserverCheck }, context) => {
    const admin = requireAdmin(context);
    const { core } = context;
    const { clock, config, database, log } = core;
    // PostgreSQL cannot store this character.
    if (username.includes('\0')) return { status: 'INVALID' };
    const existing = await findUserByName(database, username);
    if (existing !== undefined) return { status: 'EXISTS', user: userModel(existing) };
    if (usernameProblems(username, config.homeserver.homeserver).length > 0) return { status: 'INVALID' };
    const requested = skipHomeserverCheck === true ? 'available' : await checkHomeserverName(core, username);
    if (requested === 'exists') return { status: 'RESERVED' };
    if (requested !== 'available') throw homeserverUnavailable();
    const outcome = await registerUser(core, {
      username,
      displayName: undefined,
      locale: config.i18n.defaultLanguage,
      canRequestAdmin: false,
      isNewAtHomeserver: skipHomeserverCheck !== true,
      emails: [],
      password: undefined,
      by: adminActor(admin),
      record: async (transaction, id) => {
        const target = { type: 'user', id, userId: id };
        await recordAs(admin, context, { operation: 'addUser', target })(transaction);
      },
      now: clock.now(),
    });
    if (!outcome.ok) {
      const taken = await findUserByName(database, username);
      return taken === undefined ? { status: 'EXISTS' } : { status: 'EXISTS', user: userModel(taken) };
    }
    context.forget();
    const { id } = outcome;
    log.info('account.added', 'account created by administrator', {
      user: id,
      client: admin.clientId,
      admin: admin.userId,
    });
    return { status: 'ADDED', user: userModel({ id, username }) };
  },
});
