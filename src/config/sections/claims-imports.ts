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
        '`ignore`: not used. `suggest`: users may edit or omit it. `force`: used unchanged, and omitted if ' +
          'empty. `require`: as `force`, but registration fails if it is empty.',
      ),
    template: template(CLAIM_VARIABLES).prefault(source).describe('Template for the value.'),
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
        'What happens, with `force` or `require`, if an account has this username already (ASCII letters are ' +
          'compared case-insensitively). `fail`: sign-in fails. The other values hand the account to whoever ' +
          'has that username at the provider, so use them only if users cannot choose their username there. ' +
          '`add`: the account is linked. `set`: the account is linked only if it has no other link to the ' +
          'provider. `replace`: the account is linked, replacing other links to the provider. Accounts with a ' +
          'password or a passkey are linked after signing in with it; see `trust_provider`. Accounts of ' +
          'administrators are never linked by username.',
      ),
    trust_provider: bool()
      .prefault(false)
      .describe(
        'Links accounts that have a password or a passkey without asking for it. Because an attacker may ' +
          'have created the account in advance, linking removes its password, passkeys, second factors, ' +
          'other links and the email addresses that the provider does not confirm, and ends all its sessions.',
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
        .describe('Identifier of the user at the provider: unique and never reassigned.'),
    })
      .prefault({})
      .describe('Claim that identifies the user. If it is changed later, existing users are no longer recognized.'),
    localpart: localpart.prefault({}).describe('Username of a new account.'),
    displayname: mapping(attribute('{{ user.name }}'))
      .prefault({})
      .describe('Display name, truncated to 255 characters.'),
    email: mapping({
      ...attribute('{{ user.email }}'),
      set_email_verification: choice(['import', 'always', 'never'])
        .prefault('import')
        .describe(
          'Whether the email address counts as verified. `import`: if `email_verified` is true. `always`: in ' +
            'every case. `never`: the user must enter a code sent to the address.',
        ),
    })
      .prefault({})
      .describe('Email address of a new account. Existing accounts are never linked by email address.'),
    groups: mapping({
      action: choice(['ignore', 'force'])
        .prefault('ignore')
        .describe(
          '`ignore`: not used. `force`: each sign-in replaces the groups from this provider; groups set by ' +
            'administrators are kept.',
        ),
      template: template(CLAIM_VARIABLES, { maxOutputBytes: MAX_GROUPS_BYTES })
        .prefault('{{ user.groups | default([]) | tojson }}')
        .describe('Group names, as a JSON list or one per line. An empty result means no groups.'),
    })
      .prefault({})
      .describe('Groups of the user, released to clients with the scope `groups`; the first 200.'),
    account_name: mapping({
      template: template(CLAIM_VARIABLES)
        .optional()
        .describe(
          'Address or name that helps the user to recognize the linked account; shown only to that user. ' +
            'Default: nothing.',
        ),
    })
      .prefault({})
      .describe('Name of the account at the provider, updated at each sign-in.'),
    skip_confirmation: bool()
      .prefault(false)
      .describe(
        'Registers users without a confirmation page; with `branding.tos_uri` the page is shown ' +
          'nevertheless. Requires `localpart` with the action `require`, and `suggest` nowhere.',
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
