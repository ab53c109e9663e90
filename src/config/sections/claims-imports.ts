/** How claims from a sign-in provider are imported: `upstream_oauth2.providers[].claims_imports`. */
import type { z } from 'zod';
import { rule } from '#platform/config/rule.ts';
import { bool, choice, mapping } from '#platform/config/values.ts';
import { CLAIM_VARIABLES, template } from './claim-template.ts';

/** What happens to an attribute when a new user registers. */
const ACTIONS = ['ignore', 'suggest', 'force', 'require'] as const;

function attribute(source: string) {
  return {
    action: choice(ACTIONS)
      .prefault('ignore')
      .describe(
        '`ignore`: not used. `suggest`: the person may change or refuse it. `force`: used as it is, and left out when there is none. `require`: as `force`, and nobody registers without it.',
      ),
    template: template(CLAIM_VARIABLES).prefault(source).describe('What it is made of.'),
  };
}

/** 200 names of more than 255 characters each. */
const MAX_GROUPS_BYTES = 65_536;

const localpart = rule(
  mapping({
    ...attribute('{{ user.preferred_username }}'),
    on_conflict: choice(['fail', 'add', 'replace', 'set'])
      .prefault('fail')
      .describe(
        'When an account here has the name, exactly or but for the case of ASCII letters, with `force` or `require`: `fail`: nobody gets in. The others hand the account over to whoever has that name at the provider, if the provider lets people choose it to anybody. `add`: the account is linked. `set`: only if it is linked to nobody else there. `replace`: in place of whom it is linked to there. An account with a password or a passkey is linked after a sign-in with it; see `trust_provider`. Accounts of administrators are never linked by name.',
      ),
    trust_provider: bool()
      .prefault(false)
      .describe(
        'Links accounts that have a password or a passkey without asking for it. Because a stranger may have made such an account beforehand, the password, passkeys, second factors, other links, email addresses that the provider does not confirm, and all sessions of the account end.',
      ),
  }),
  ['action', 'on_conflict', 'trust_provider'],
  ({ action, on_conflict: onConflict, trust_provider: trustsProvider }, problem) => {
    if (trustsProvider && onConflict === 'fail') problem(['trust_provider'], 'needs "on_conflict" other than "fail"');
    if (onConflict !== 'fail' && action !== 'force' && action !== 'require') {
      problem(['on_conflict'], `"${onConflict}" needs the action "force" or "require"`);
    }
  },
);

export const claimsImports = rule(
  mapping({
    subject: mapping({
      template: template(CLAIM_VARIABLES)
        .prefault('{{ user.sub }}')
        .describe('Who it is, as the provider tells people apart: unique there and never given to somebody else.'),
    })
      .prefault({})
      .describe(
        'Which claim identifies a person. Changing it later makes strangers of everybody who signed in before.',
      ),
    localpart: localpart.prefault({}).describe('The username of a new account.'),
    displayname: mapping(attribute('{{ user.name }}'))
      .prefault({})
      .describe('The name that others see, cut to 255 characters.'),
    email: mapping({
      ...attribute('{{ user.email }}'),
      set_email_verification: choice(['import', 'always', 'never'])
        .prefault('import')
        .describe(
          'Whether the provider vouches for the address. `import`: when it says so by `email_verified`. `always`: also when it does not. `never`: a code is mailed there all the same.',
        ),
    })
      .prefault({})
      .describe('The e-mail address of a new account. Nobody gets an account that exists by it.'),
    groups: mapping({
      action: choice(['ignore', 'force'])
        .prefault('ignore')
        .describe(
          '`ignore`: not used. `force`: at each sign-in, those that the provider names take the place of those that it named before; groups that administrators set stay.',
        ),
      template: template(CLAIM_VARIABLES, { maxOutputBytes: MAX_GROUPS_BYTES })
        .prefault('{{ user.groups | default([]) | tojson }}')
        .describe('Names of groups: a list in JSON, or one in each line. Without a result the provider names none.'),
    })
      .prefault({})
      .describe('Groups of the person, which applications get with the scope `groups`; the first 200.'),
    account_name: mapping({
      template: template(CLAIM_VARIABLES)
        .optional()
        .describe(
          'Shown to the person alone, so that they recognize the account: an address or a name. Default: nothing.',
        ),
    })
      .prefault({})
      .describe('What the account is called at the provider, read again at each sign-in.'),
    skip_confirmation: bool()
      .prefault(false)
      .describe(
        'Nobody is asked before a registration begins; with `branding.tos_uri` they are all the same. Needs `localpart` with the action `require`, and `suggest` nowhere.',
      ),
  }),
  ['localpart', 'displayname', 'email', 'skip_confirmation'],
  ({ localpart: { action }, displayname, email, skip_confirmation: skips }, problem) => {
    if (!skips) return;
    if (action !== 'require') problem(['skip_confirmation'], 'needs "localpart" with the action "require"');
    for (const [name, other] of Object.entries({ displayname, email })) {
      if (other.action === 'suggest') problem([name, 'action'], '"suggest" does not go with "skip_confirmation"');
    }
  },
);

export function claimsImportsConfig(parsed: z.output<typeof claimsImports>) {
  const { localpart: username, displayname, email } = parsed;
  return {
    localpart: {
      action: username.action,
      template: username.template,
      onConflict: username.on_conflict,
      trustsProvider: username.trust_provider,
    },
    displayName: { action: displayname.action, template: displayname.template },
    email: { action: email.action, template: email.template, setEmailVerification: email.set_email_verification },
    groups: { action: parsed.groups.action, template: parsed.groups.template },
    /** Skip the page that asks the user to confirm. */
    skipsConfirmation: parsed.skip_confirmation,
  };
}
