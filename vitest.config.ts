import { defineConfig } from 'vitest/config';

/** Tests that replace a module or a global, measure their process, or end it. */
const ALONE = [
  'src/platform/**/*.test.ts',
  'src/app/service/**/*.test.ts',
  'src/cli/**/*.test.ts',
  'web/**/*.test.ts',
  'test/{acceptance,faults,hostile-input,long-life,manual,monitoring,start,support,telemetry}/**/*.test.ts',
  'test/attacks/{banned-requesters,bounds,connections,device-grant,enumeration,exhaustion}.test.ts',
  'test/attacks/{output-injection,process-limits,random-client-ids,slow-connections,work}.test.ts',
  'test/account-api/limits.test.ts',
  'test/homeserver/{device-races,device-syncs,import-from-mas,import-from-synapse,real-synapse}.test.ts',
  'test/interop/browser-headers.test.ts',
  'test/journeys/*key-rotation.test.ts',
  'test/plans/*.test.ts',
];

export default defineConfig({
  test: {
    // The file that Node.js takes too: a second copy of the package would not know the types of the first.
    alias: [{ find: /^graphql$/, replacement: 'graphql/index.js' }],
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A poll ends when what it waits for is there. Its limit of one second would fail on a busy machine.
    expect: { poll: { timeout: 30_000, interval: 20 } },
    // One more than the cores of a small machine: many of these tests wait for a process, a timer or the database.
    maxWorkers: 3,
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE } },
      // To load the service takes longer than most of these files run.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.ts'],
          exclude: ALONE,
          isolate: false,
        },
      },
    ],
  },
});
