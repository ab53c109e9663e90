import { beforeEach, expect, test } from 'vitest';
import { StrengthChecker, type StrengthRating, type TypedPassword } from './strength-checker.ts';

let requested: string[];
let shown: (StrengthRating | undefined)[];
let judge: StrengthChecker;

beforeEach(() => {
  requested = [];
  shown = [];
  judge = new StrengthChecker({
    minimumScore: 3,
    minimumLength: 4,
    estimate: ({ password }) => requested.push(password),
    show: (verdict) => shown.push(verdict),
  });
});

function typed(password: string, username = 'amira'): TypedPassword {
  return { password, username, email: '' };
}

test('shows nothing for empty input, and rates a short password as short without a request', () => {
  judge.type(typed(''));
  judge.type(typed('abc'));
  // Two characters, four UTF-16 code units.
  judge.type(typed('🔑🔑'));
  expect(shown).toEqual([undefined, TOO_SHORT, TOO_SHORT]);
  expect(requested).toEqual([]);
});

const TOO_SHORT = { kind: 'too-short', score: 0, level: 'weak' };

test.each([
  [
    { score: 4, isCommon: false },
    { kind: 'estimated', score: 4, level: 'good' },
  ],
  [
    { score: 3, isCommon: false },
    { kind: 'estimated', score: 3, level: 'good' },
  ],
  [
    { score: 2, isCommon: false },
    { kind: 'estimated', score: 2, level: 'fair' },
  ],
  [
    { score: 1, isCommon: false },
    { kind: 'estimated', score: 1, level: 'weak' },
  ],
  [
    { score: 3, isCommon: true },
    { kind: 'common', score: 0, level: 'weak' },
  ],
])('shows %j as %j', (strength, verdict) => {
  judge.type(typed('walrus'));
  judge.answer(strength);
  expect(shown).toEqual([verdict]);
});

test('sends one request at a time, and discards results for outdated input', () => {
  judge.type(typed('walrus'));
  judge.type(typed('walruses'));
  judge.type(typed('walruses sing'));
  expect(requested).toEqual(['walrus']);
  judge.answer({ score: 0, isCommon: false });
  expect([requested, shown]).toEqual([['walrus', 'walruses sing'], []]);
  judge.type(typed('wal'));
  judge.answer({ score: 4, isCommon: false });
  expect(shown).toEqual([TOO_SHORT, TOO_SHORT]);
});

test('sends another request when the username that the password is compared with changes', () => {
  judge.type(typed('walrus'));
  judge.type(typed('walrus', 'walrus'));
  judge.answer({ score: 4, isCommon: false });
  judge.answer({ score: 0, isCommon: false });
  expect(requested).toEqual(['walrus', 'walrus']);
  expect(shown).toEqual([{ kind: 'estimated', score: 0, level: 'weak' }]);
});
