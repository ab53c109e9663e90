/** The upper limit of password logins: only the same hash with the same parameters, on every processor. */
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { serveOrders } from '../worker.js';

serveOrders(async ({ password, count }) => {
  const stored = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  let started = 0;
  const loop = async () => {
    while (started < count) {
      started += 1;
      if (!(await verify(stored, password))) throw new Error('the right password was refused');
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: availableParallelism() }, loop));
  return { count, seconds: (performance.now() - startedAt) / 1000 };
});
