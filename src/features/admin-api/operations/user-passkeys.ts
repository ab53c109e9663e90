/** Passkeys of accounts, which administrators can only remove (operations 4.4). */
import { removePasskeyOfUser } from '#domain/passkeys/remove-passkey-of-user.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import { noStore } from '#platform/http/response.ts';
import { actorOf } from '../definition/caller.ts';
import { change, idOfPath, logAction, missing, type Operation } from '../definition/operation.ts';
import { USER } from './users.ts';

export const userPasskeyOperations: readonly Operation[] = [
  {
    id: 'removeUserPasskey',
    method: 'DELETE',
    path: `${USER.path}/:id/passkeys/:passkey`,
    tag: USER.type,
    summary: 'Removes a passkey of a user who lost it',
    description:
      'Browsers where the user skips the second factor ask for it again; sessions continue. An account whose only way ' +
      'to sign in was the passkey needs a recovery link or a password. The user is notified by email.',
    answers: [{ status: 204, schema: undefined, description: 'The account does not have the passkey any more.' }],
    errors: ['invalid_id', 'not_found'],
    run: async (call) => {
      const { caller, context, core } = call;
      const user = idOfPath<'user'>(context);
      const passkey = parseId<'passkey'>(context.params['passkey'] ?? '');
      if (passkey === undefined) throw new LatchkeyError('invalid_id');
      const action = {
        operation: 'removeUserPasskey',
        target: { type: USER.type, id: user, userId: user },
        changed: ['passkeys'],
      };
      const removal = { user, passkey, by: actorOf(caller), now: core.clock.now() };
      await change(call, action, async ({ sendsNotices }, transaction) => {
        if (!(await removePasskeyOfUser(transaction, removal, sendsNotices))) throw missing('passkey');
      });
      logAction(call, 'removeUserPasskey', user);
      return { status: 204, headers: noStore };
    },
  },
];
