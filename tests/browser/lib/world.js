// The servers that tests share. Each is started when the first test asks for it.
import { Development } from "./development.js";
import { Production } from "./production.js";

const started = new Map();

function once(name, start) {
  if (!started.has(name)) started.set(name, start());
  return started.get(name);
}

// With the dataset demo, of which nobody asks more: a test that charges has a dataset of its own, and one that stops servers a world.
export function development() {
  return once("development", async () => {
    const world = await Development.start();
    await world.makeDemo();
    return world;
  });
}

export function production() {
  return once("production", () => Production.start());
}

export async function stopAll() {
  await Promise.all([...started.values()].map(async (starting) => (await starting.catch(() => undefined))?.stop()));
}
