import { DatabaseError } from 'pg';
import { describe, expect, test } from 'vitest';
import { ConnectionLost, readFailure, reasonOf, StatementError, toCallersError } from './failures.ts';

function refusal(code: string, message = 'the message of the server'): DatabaseError {
  const error = new DatabaseError(message, 0, 'error');
  error.code = code;
  return error;
}

test('a fatal error ends the connection whatever its code: PgBouncer reports the loss of its server as 08P01', () => {
  const fatal = Object.assign(refusal('08P01'), { severity: 'FATAL' });
  const failure = readFailure('label', fatal, undefined);
  expect(failure).toBeInstanceOf(ConnectionLost);
  expect(toCallersError(failure)).toMatchObject({ code: 'temporarily_unavailable' });
});

test.each([
  [
    'could not write to file "base/pgsql_tmp/pgsql_tmp31.0"',
    /disk of the database server's temporary files .*temp_tablespaces/,
  ],
  ['could not write block 7 of temporary file', /disk of the database server's temporary files .*temp_tablespaces/],
  ['could not extend file "base/16384/2619"', /: No space left on device\. A disk of the database server is full\.$/],
])('F-12: identifies a full disk: %s', (text, named) => {
  const failure = readFailure('label', refusal('53100', `${text}: No space left on device`), undefined);
  expect(failure).toMatchObject({ sqlState: '53100', message: expect.stringMatching(named) });
});

test('treats the driver error for an idle connection that ended as a lost connection', () => {
  expect(readFailure('label', new Error('Connection terminated unexpectedly'), undefined)).toBeInstanceOf(
    ConnectionLost,
  );
});

describe('errors for callers', () => {
  test.each([
    ['53100', 'disk full'],
    ['53200', 'out of memory'],
    ['53300', 'too many connections'],
    ['58030', 'input or output error'],
    ['25006', 'read-only mode'],
    ['57014', 'statement time-out'],
    ['55P03', 'lock time-out'],
    ['40001', 'serialization failure'],
    ['40P01', 'deadlock'],
    ['42501', 'rights taken away'],
  ])('%s (%s): temporarily_unavailable with a time to retry', (code) => {
    const seen = toCallersError(readFailure('label', refusal(code), undefined));
    expect(seen).toMatchObject({ code: 'temporarily_unavailable', retryAfterSeconds: 5, cause: { sqlState: code } });
  });

  test.each(['22021', '22P05'])('%s (text that no column can store): malformed_request', (code) => {
    expect(toCallersError(readFailure('label', refusal(code), undefined))).toMatchObject({ code: 'malformed_request' });
  });

  test.each(['23505', '23503', '42601', '08P01'])(
    '%s (a programming error or a unique violation): the original error',
    (code) => {
      const seen = toCallersError(readFailure('label', refusal(code), undefined));
      expect(seen).toBeInstanceOf(StatementError);
      expect(seen).toMatchObject({ sqlState: code });
    },
  );
});

describe('an error', () => {
  test.each(['57P01', '57P02', '57P03', '08006', '25P03'])('%s: the server ended the session', (code) => {
    expect(readFailure('label', refusal(code), undefined)).toBeInstanceOf(ConnectionLost);
  });

  test('of the driver is a lost connection when it has a matching cause, otherwise unchanged', () => {
    const error = new TypeError('cannot encode');
    expect(readFailure('label', error, undefined)).toBe(error);
    expect(readFailure('label', error, new Error('read ECONNRESET'))).toMatchObject({
      name: 'ConnectionLost',
      message: expect.stringContaining('read ECONNRESET'),
    });
  });

  test('on every address of a host is described by the first', () => {
    expect(reasonOf(new AggregateError([new Error('connect ECONNREFUSED ::1:5432')]))).toBe(
      'connect ECONNREFUSED ::1:5432',
    );
  });
});
