import { expect } from 'vitest';
import { staged } from './stage.ts';
import { eventTypes } from './types.ts';

staged('C7: the types of events are those that the server describes', async ({ stage }) => {
  const server = await stage.server();
  const description = await fetch(`${server.url}/openapi.json`);
  await expect(await eventTypes(await description.json())).toMatchFileSnapshot('../src/schema.ts');
});
