import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { newId } from '#platform/base/ids.ts';
import { isPairwiseSubject, Subjects, sectorHost, sectorUri } from './subjects.ts';

const KEY = Buffer.alloc(32, 7);
const USER = newId<'user'>(1);
const subjects = new Subjects({ pairwiseSubjects: KEY });

describe('subjects (OpenID Connect Core 8, oauth 15.5)', () => {
  test('are the account ID without a sector', () => {
    expect(subjects.of(USER, undefined)).toBe(USER);
  });

  test('are an HMAC of sector and account otherwise, under the key of this installation', () => {
    const subject = subjects.of(USER, 'app.example');
    expect(subject).toBe(createHmac('sha256', KEY).update(`app.example\0${USER}`).digest('base64url'));
    expect(isPairwiseSubject(subject)).toBe(true);
    expect(isPairwiseSubject(USER)).toBe(false);
  });

  test('differ between sectors, users and installations', () => {
    const all = [
      subjects.of(USER, 'app.example'),
      subjects.of(USER, 'app.example.org'),
      subjects.of(newId<'user'>(2), 'app.example'),
      new Subjects({ pairwiseSubjects: Buffer.alloc(32, 8) }).of(USER, 'app.example'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('the sector of a client', () => {
  const redirect_uris = ['https://app.example/cb'];

  test('is the host of its sector identifier, otherwise of its redirect URIs, and none with public subjects', () => {
    const sector_identifier_uri = 'https://Group.example:8443/apps.json';
    expect(sectorHost(sectorUri({ redirect_uris }))).toBeUndefined();
    expect(sectorHost(sectorUri({ redirect_uris, subject_type: 'public', sector_identifier_uri }))).toBeUndefined();
    expect(sectorHost(sectorUri({ redirect_uris, subject_type: 'pairwise' }))).toBe('app.example');
    expect(sectorHost(sectorUri({ redirect_uris, subject_type: 'pairwise', sector_identifier_uri }))).toBe(
      'group.example',
    );
  });

  test.each([[[]], [['com.example.app:/cb']]])(
    'that is missing with %j is an error, never a public subject',
    (uris) => {
      expect(() => sectorHost(sectorUri({ redirect_uris: uris, subject_type: 'pairwise' }))).toThrow('has no sector');
    },
  );
});
