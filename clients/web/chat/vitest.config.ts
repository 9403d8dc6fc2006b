import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['{src,page,test}/**/*.test.ts'],
    // Real processes on a busy machine: a bound for what hangs, and no test waits for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
