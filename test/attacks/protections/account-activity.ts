import { OWNER_OF_ROWS, type Protection } from './protection.ts';

const UPSTREAM = 'src/features/account-api/upstream.test.ts';
const UNLINK = 'src/features/account-api/unlink-upstream.test.ts';
const APPLICATIONS = 'src/features/account-api/applications.test.ts';
const EVENTS = 'src/features/account-api/security-events.test.ts';

/** Links, applications and events that users see and can end. */
export const ACCOUNT_ACTIVITY: readonly Protection[] = [
  {
    name: 'account-links-owner',
    what: 'links of other users are not found',
    attack: 128,
    removals: [OWNER_OF_ROWS],
    test: UPSTREAM,
    testName: '(S-84, S-128)',
  },
  {
    name: 'account-unlink-last',
    what: 'the last sign-in method cannot be removed',
    attack: 128,
    removals: [{ text: 'where l.id = own.id and own.has_other', instead: 'where l.id = own.id' }],
    test: UNLINK,
    testName: 'refuses to remove the last sign-in method; disabled providers and passwords do not count',
  },
  {
    name: 'account-unlink-freshness',
    what: 'unlinking requires a recent sign-in',
    attack: 66,
    removals: [
      {
        text: 'requireRecentAuthentication(context);\n    if (!provider.isUnlinkAllowed)',
        instead: 'if (!provider.isUnlinkAllowed)',
      },
    ],
    test: UNLINK,
    testName: '(account-graphql 2.5, 7.3)',
  },
  {
    name: 'account-end-all-freshness',
    what: 'signing out everywhere requires a recent sign-in',
    attack: 66,
    removals: [{ text: 'requireRecentAuthentication(context);\n    const ended =', instead: 'const ended =' }],
    test: APPLICATIONS,
    testName: '(account-graphql 2.5, 7.6)',
  },
  {
    name: 'account-consents-owner',
    what: 'consents of other users are not found',
    attack: 128,
    removals: [OWNER_OF_ROWS],
    test: APPLICATIONS,
    testName: 'lists their permissions, with a constant number of statements for any number of sessions',
  },
  {
    name: 'account-revoke-consent-owner',
    what: 'users cannot revoke consents of other users',
    attack: 128,
    removals: [
      {
        text: 'where id = :consentId::uuid and user_id = :userId::uuid',
        instead: 'where id = :consentId::uuid and :userId::uuid is not null',
      },
    ],
    test: APPLICATIONS,
    testName: '(S-84, S-128)',
  },
  {
    name: 'account-revoked-codes',
    what: 'a disconnected client cannot exchange its last code',
    attack: 102,
    removals: [{ text: 'await cancelGrantsOfUser(transaction, userId, clientId, now);' }],
    test: APPLICATIONS,
    testName: '(S-102)',
  },
  {
    name: 'account-events-owner',
    what: 'security events of other users are not found',
    attack: 128,
    removals: [OWNER_OF_ROWS],
    test: EVENTS,
    testName: '(S-84, S-128)',
  },
  {
    name: 'account-failure-rows',
    what: 'a flood of wrong passwords creates ten rows an hour',
    attack: 87,
    removals: [{ text: 'is not null and (select count(*) from recent) <', instead: 'is not null and 0 <' }],
    test: EVENTS,
    testName: 'stores ten wrong passwords an hour, and counts the others in the newest event',
  },
];
