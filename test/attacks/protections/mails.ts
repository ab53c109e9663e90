/** Emails and security notices. */
import { OWNER_OF_ROWS, type Protection } from './protection.ts';

const EMAILS_TEST = 'src/features/account-api/emails.test.ts';

export const MAILS: readonly Protection[] = [
  {
    name: 'mail-one-recipient',
    what: 'an email is sent only if its recipient is a single address',
    attack: 76,
    removals: [
      {
        text: "if (!ONE_ADDRESS.test(to.address)) return { kind: 'refused', reason: 'the recipient is not a single address' };",
      },
    ],
    test: 'src/platform/mail/other-transports.test.ts',
    testName: '(S-76)',
  },
  {
    name: 'mail-smtputf8',
    what: 'a server without SMTPUTF8 receives no internationalized addresses',
    attack: 76,
    removals: [
      {
        text: 'if (!takesUtf8 && (isInternationalized(sender) || isInternationalized(recipient))) throw new Utf8Missing();',
      },
    ],
    test: 'src/platform/mail/smtp-transport.test.ts',
    testName: 'is rejected permanently by a server without it, before anything is sent',
  },
  {
    name: 'email-visible',
    what: 'addresses must not contain invisible characters or bidirectional controls',
    attack: 128,
    removals: [{ text: ' || INVISIBLE.test(local)' }],
    test: 'src/domain/accounts/email-address.test.ts',
    testName: 'is invalid',
  },
  {
    name: 'email-one-form',
    what: 'an address exists once, regardless of its Unicode normalization',
    attack: 128,
    removals: [
      { text: "trimmed.slice(0, Math.max(at, 0)).normalize('NFC')", instead: 'trimmed.slice(0, Math.max(at, 0))' },
      { text: "key: address.toLowerCase().normalize('NFC')", instead: 'key: address.toLowerCase()' },
    ],
    test: EMAILS_TEST,
    testName: 'accepts letters of any script, and belongs to one account in all its spellings',
  },
  {
    name: 'notices-limited',
    what: 'notifications of an account are rate limited',
    attack: 94,
    removals: [{ text: 'where (select count(*) from charged) = (select count(*) from wanted)' }],
    test: 'src/browser/mails/security-notice.test.ts',
    testName: '(S-94)',
  },
  {
    name: 'notice-language',
    what: 'the user agent of a sign-in does not choose the language of the notification to the owner',
    attack: 123,
    removals: [
      {
        text: 'coalesce((select owner.locale from users owner where owner.id = told_user.user_id), :language::text)',
        instead: ':language::text',
      },
    ],
    test: 'src/browser/mails/security-notice.test.ts',
    testName: "of a sign-in is the owner's last used language, whatever the new browser requests (S-123)",
  },
  {
    name: 'email-change-told',
    what: 'an added or removed address is notified to the others, partly masked',
    attack: 123,
    removals: [
      { text: 'if (sendsNotices) await queueNotice(transaction, kind, { user, eventId, detail, language, now });' },
    ],
    test: 'src/cli/accounts.test.ts',
    testName: 'adds a confirmed address and notifies the existing ones, but not the new one (browser-flows 11.6)',
  },
  {
    name: 'account-end-told',
    what: 'a deactivation is notified to the addresses of the account',
    attack: 123,
    removals: [{ text: "if (isTold) await queueNotice(transaction, 'account_deactivated', notice);" }],
    test: 'src/cli/accounts.test.ts',
    testName: 'deactivation is announced to every address of the account, each with its own email',
  },
  {
    name: 'notices-undone',
    what: 'rolled-back changes are not notified',
    attack: 123,
    removals: [
      {
        text: `when 'account_locked' then \${accountIsLocked('u')} and not (\${accountIsDeactivated('u')})
            when 'account_deactivated' then \${accountIsDeactivated('u')}`,
        instead: "when 'nothing' then false",
      },
    ],
    test: 'src/cli/accounts.test.ts',
    testName: 'a lock is announced by email (browser-flows 11.9)',
  },
  {
    name: 'mail-template-runs-nothing',
    what: 'custom email templates cannot run or fetch anything',
    attack: 76,
    removals: [
      {
        text: "if (part === 'html') {\n    for (const { index",
        instead: 'if (part.length === 0) {\n    for (const { index',
      },
    ],
    test: 'src/config/template-files.test.ts',
    testName: 'is rejected at startup',
  },
  {
    name: 'mail-template-escapes',
    what: 'values in custom email templates are escaped',
    attack: 76,
    removals: [
      {
        text: "return part !== 'html' || isMarkup ? values[variable] : escapeHtml(values[variable]);",
        instead: "return part !== 'html' || isMarkup ? values[variable] : values[variable];",
      },
    ],
    test: 'src/browser/mails/security-notice.test.ts',
    testName: 'combines replaced parts with the bundled ones',
  },
  {
    name: 'mail-attempt-limit',
    what: 'an attempt to send an email ends, regardless of the server',
    attack: 'F-16',
    removals: [
      {
        text: 'return await Promise.race([work({ socket, opened, milliseconds }), ended]);',
        instead: 'return await work({ socket, opened, milliseconds });',
      },
    ],
    test: 'src/platform/mail/smtp-transport.test.ts',
    testName: 'a server that fails at a given step (F-16)',
  },
  {
    name: 'mail-final-refusal',
    what: 'a permanently rejected recipient is not retried',
    attack: 'F-16',
    removals: [
      { text: "isAboutMail && responseCode >= 500 ? 'refused' : 'retry'", instead: "isAboutMail ? 'retry' : 'retry'" },
    ],
    test: 'src/platform/mail/smtp-transport.test.ts',
    testName: 'a server that fails at a given step (F-16)',
  },
  {
    name: 'email-change-password',
    what: 'adding or removing an address requires the password of the account',
    attack: 123,
    removals: [{ text: "return await checkPassword(context, caller, password ?? '');", instead: 'return CONFIRMED;' }],
    test: EMAILS_TEST,
    testName: 'requires the password, checked before mails are counted, and counts as an authentication',
  },
  {
    name: 'email-change-recent',
    what: 'users without a password must have signed in recently',
    attack: 123,
    removals: [
      {
        text: "if (caller.kind === 'browser' && isRecent(caller.session.authenticatedAt, maxAge * 1000, core.clock.now())) return;",
        instead: "if (caller.kind === 'browser') return;",
      },
    ],
    test: EMAILS_TEST,
    testName: '(account-graphql 2.5, S-123)',
  },
  {
    name: 'email-code-of-session',
    what: 'a code for an additional address only works in the browser session that requested it',
    attack: 91,
    removals: [
      {
        text: 'a.user_session_id = :sessionId::uuid`',
        instead: '(a.user_session_id = :sessionId::uuid or a.id is not null)`',
      },
    ],
    test: EMAILS_TEST,
    testName: 'of another session is unknown, even to the same user',
  },
  {
    name: 'email-owner',
    what: 'only the user can remove an address',
    attack: 128,
    removals: [OWNER_OF_ROWS],
    test: 'src/features/account-api/change-emails.test.ts',
    testName: 'treats addresses of other users as unknown',
  },
  {
    name: 'last-email',
    what: 'the last address cannot be removed without another way to sign in',
    attack: 101,
    removals: [{ text: "if (row?.has_other_way !== true) return 'last';" }],
    test: 'src/features/account-api/change-emails.test.ts',
    testName: 'refuses the last one, unless another sign-in method exists',
  },
];
