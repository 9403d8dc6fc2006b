import openapiTS, { astToString } from 'openapi-typescript';

interface Schema {
  [key: string]: unknown;
}

/** What a server's `/openapi.json` says of its events, as TypeScript. */
export async function eventTypes(description: { components: { schemas: Record<string, Schema> } }): Promise<string> {
  const all = description.components.schemas;
  const wanted = new Set<string>();
  gather(all.Event, 'Event');
  const schemas = Object.fromEntries([...wanted].sort().map((name) => [name, all[name]]));
  const wantedOnly = { openapi: '3.1.0', info: { title: '', version: '' }, paths: {}, components: { schemas } };
  const nodes = await openapiTS(JSON.stringify(wantedOnly), { rootTypes: true, rootTypesNoSchemaPrefix: true });
  return `${HEAD}\n${astToString(nodes)}`;

  function gather(schema: unknown, name?: string): void {
    if (name !== undefined) {
      if (wanted.has(name)) return;
      wanted.add(name);
    }
    if (typeof schema !== 'object' || schema === null) return;
    for (const [key, value] of Object.entries(schema)) {
      const to = key === '$ref' && typeof value === 'string' ? value.split('/').at(-1) : undefined;
      if (to === undefined) gather(value);
      else gather(all[to], to);
    }
  }
}

const HEAD = `// The schema of events as the server describes it (crates/chat/src/event). Not written by hand:
// \`./x web --update\` writes it, and \`./x web\` fails when it says anything else than the server does.
`;
