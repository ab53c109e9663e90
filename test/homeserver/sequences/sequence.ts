import { expect } from 'vitest';
import { type ChatApp, ChatRefusal, type PasswordLogin } from '#test/support/chat-apps/chat-app.ts';
import { type HomeserverSetup, PASSWORD } from '../homeserver-setup.ts';

/** What a chat client does, and the expected result. User and device names are unique to each sequence. */
export interface Sequence {
  /** As in chat-compat 18.3. */
  readonly id: string;
  readonly claim: string;
  run(world: HomeserverSetup): Promise<void>;
}

export function passwordOf(user: string, more: Partial<PasswordLogin> = {}): PasswordLogin {
  return { identifier: { type: 'm.id.user', user }, password: PASSWORD, ...more };
}

/** Signs a user in with a new client. */
export async function signedIn(
  world: HomeserverSetup,
  user: string,
  more: Partial<PasswordLogin> = {},
): Promise<ChatApp> {
  const app = world.app();
  await app.logIn(passwordOf(user, more));
  return app;
}

/** Returns the rejection of a request. Fails when it succeeds. */
export async function refusalOf(request: Promise<unknown>): Promise<ChatRefusal> {
  try {
    await request;
  } catch (error) {
    if (error instanceof ChatRefusal) return error;
    throw error;
  }
  throw new Error('it was not refused');
}

export async function expectRefusal(request: Promise<unknown>, status: number, errcode?: string): Promise<void> {
  const refusal = await refusalOf(request);
  expect([refusal.status, refusal.errcode]).toEqual([status, errcode ?? refusal.errcode]);
}
