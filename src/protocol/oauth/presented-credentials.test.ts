import { describe, expect, test } from 'vitest';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { presentedCredentials } from './presented-credentials.ts';

const none = FormParameters.of({});

function header(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

describe('credentials presented by a client', () => {
  test('both halves of a Basic header are tried form-decoded first and raw second (RFC 6749 2.3.1)', () => {
    expect(presentedCredentials(header('id:a%3Ab+c'), none)).toEqual({
      method: 'client_secret_basic',
      candidates: [
        { clientId: 'id', secret: 'a:b c' },
        { clientId: 'id', secret: 'a%3Ab+c' },
      ],
      isInFormToo: false,
    });
    expect(presentedCredentials(header('id:100%'), none)).toEqual({
      method: 'client_secret_basic',
      candidates: [{ clientId: 'id', secret: '100%' }],
      isInFormToo: false,
    });
  });

  test('an empty parameter counts as absent', () => {
    expect(presentedCredentials(undefined, FormParameters.of({ client_id: 'id', client_secret: '' }))).toEqual({
      method: 'none',
      clientId: 'id',
    });
    expect(presentedCredentials(undefined, FormParameters.of({ client_id: '' }))).toEqual({ method: 'absent' });
  });

  test('a client_id next to a Basic header must name the same client', () => {
    expect(presentedCredentials(header('id:s'), FormParameters.of({ client_id: 'ID' })).method).toBe(
      'client_secret_basic',
    );
    expect(presentedCredentials(header('id:s'), FormParameters.of({ client_id: 'other' })).method).toBe('ambiguous');
  });

  test('a secret in both places counts once when it equals one reading of the header', () => {
    const form = FormParameters.of({ client_id: 'id', client_secret: 'a%3Ab' });
    expect(presentedCredentials(header('id:a%3Ab'), form)).toEqual({
      method: 'client_secret_basic',
      candidates: [{ clientId: 'id', secret: 'a%3Ab' }],
      isInFormToo: true,
    });
    expect(presentedCredentials(header('id:other'), form).method).toBe('ambiguous');
    expect(presentedCredentials(header('id:'), form).method).toBe('ambiguous');
  });

  test('another scheme presents no credentials', () => {
    expect(presentedCredentials('Bearer abc', none)).toEqual({ method: 'absent' });
    expect(presentedCredentials('', none)).toEqual({ method: 'absent' });
  });

  test('an empty Basic header is undecodable', () => {
    expect(presentedCredentials('Basic', none).method).toBe('ambiguous');
  });
});
