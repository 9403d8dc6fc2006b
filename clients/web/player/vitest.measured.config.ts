import { defineConfig } from 'vitest/config';

/** What takes minutes, and a machine with little else to do: `npm run measured`. */
export default defineConfig({
  test: {
    include: ['measured/**/*.test.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 60_000,
  },
});
