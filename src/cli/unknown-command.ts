/** Error message for an unknown command, with a suggestion. */
import type { Command } from 'commander';
import { distance } from 'fastest-levenshtein';

/** @param group the command whose subcommand was expected; undefined: the program itself */
export function unknownCommand(program: Command, word: string, group?: Command): string {
  const names = (group ?? program).commands.map((command) => command.name());
  const [own, of] = group === undefined ? ['', ''] : [`${group.name()} `, ` of ${group.name()}`];
  const meant = meaning(own, word) ?? nearest(own, word, names) ?? meaning('', word) ?? elsewhere(program, word);
  const hint = meant === undefined ? '' : ` Did you mean: latchkey ${meant}?`;
  return `error: unknown command '${word}'${of}.${hint} Commands${of}: ${names.join(', ')}. See latchkey ${own}--help.`;
}

export function refuseUnknownSubcommands(program: Command): void {
  for (const group of program.commands) {
    if (group.commands.length === 0) continue;
    group.on('command:*', ([word = '']: readonly string[]) => group.error(unknownCommand(program, word, group)));
  }
}

function meaning(own: string, word: string): string | undefined {
  return MEANT.get(own + word.toLowerCase().replaceAll('_', '-'));
}

function nearest(own: string, word: string, names: readonly string[]): string | undefined {
  const maxEdits = word.length > 4 ? 2 : 1;
  const [best] = names
    .map((name) => ({ name, edits: distance(word, name) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((one, other) => one.edits - other.edits);
  return best === undefined ? undefined : own + best.name;
}

/** The word may be a subcommand of another group. */
function elsewhere(program: Command, word: string): string | undefined {
  const group = program.commands.find(({ commands }) => commands.some((command) => command.name() === word));
  return group === undefined ? undefined : `${group.name()} ${word}`;
}

/** Commands of other programs, with the equivalent here. Entries with a group name apply to that group only. */
const MEANT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'manage register-user':
      'create-user add-user new-user user-add user-create register register-user user users adduser useradd',
    'manage promote-admin': 'create-admin add-admin make-admin grant-admin admin promote',
    'manage demote-admin': 'remove-admin revoke-admin demote',
    'manage set-password': 'set-password reset-password change-password passwd password',
    'manage lock-user': 'lock ban-user disable-user suspend-user',
    'manage lock-user --deactivate': 'delete-user remove-user deactivate-user deactivate user-del userdel deluser',
    'manage unlock-user': 'unlock unban-user enable-user',
    'manage unlock-user --reactivate': 'reactivate-user reactivate',
    'manage list-users': 'manage/list manage/ls manage/users user-list',
    'manage show-user': 'manage/show manage/user get-user user-info',
    'manage kill-sessions': 'end-sessions revoke-sessions logout sign-out',
    'manage remove-second-factors': 'remove-totp reset-totp remove-2fa reset-2fa disable-2fa remove-mfa reset-mfa',
    'manage issue-user-registration-token': 'invite invitation create-token registration-token create-invitation',
    'manage delete-client': 'remove-client',
    'config generate --client': 'add-client create-client new-client client clients register-client',
    'config generate': 'init setup generate config/new config/create config/example',
    'config check': 'validate lint config/test config/verify',
    'config dump': 'config/show config/print config/get config/view',
    'config sync': 'sync config/apply config/reload',
    'database migrate': 'migrate upgrade database/up database/init database/create',
    'database status': 'database/check database/info database/show',
    'keys generate': 'keys/create keys/new keys/add',
    'keys list': 'keys/show keys/ls',
    'jobs list': 'jobs/ls jobs/status',
    'jobs retry': 'jobs/rerun jobs/restart',
    'jobs delete': 'jobs/remove jobs/rm jobs/cancel',
    backup: 'export database/backup database/dump',
    restore: 'database/restore database/import',
    doctor: 'check health diagnose status test',
    serve: 'run start up listen',
  }).flatMap(([command, words]) => words.split(' ').map((word) => [word.replace('/', ' '), command] as const)),
);

/**
 * All suggested commands.
 * @internal
 */
export const SUGGESTED_COMMANDS: readonly string[] = [...new Set(MEANT.values())];
