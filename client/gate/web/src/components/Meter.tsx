// What is spent, held and left of a counter's limit.
import type { Counter } from "../api/types.ts";
import { percent, ratio, shorten } from "../decimal.ts";
import { Gloss } from "./Gloss.tsx";
import { Amount } from "./Values.tsx";

export function Meter({ counter, bare }: { counter: Counter; bare?: boolean }) {
  const { limit, spent, held, remaining } = counter;
  const share = (part: string) => ratio(part, limit);
  const name = counter.name.replaceAll("_", " ");
  const parts = `${percent(share(spent))} spent, ${percent(share(held))} held, ${percent(share(remaining))} left`;
  const text = `${name}: ${parts} of ${shorten(limit)}`;
  return (
    <div class="meter">
      <div class="meter-bar" role="img" aria-label={text}>
        <span class="spent" style={{ width: `${share(spent) * 100}%` }} />
        <span class="held" style={{ width: `${share(held) * 100}%` }} />
      </div>
      {!bare && (
        <ul class="meter-key">
          <li>
            <span class="swatch spent" />
            <span>
              <Gloss term="spent" /> {percent(share(spent))}
            </span>
          </li>
          <li>
            <span class="swatch held" />
            <span>
              <Gloss term="held" /> {percent(share(held))}
            </span>
          </li>
          <li>
            <span class="swatch left" />
            <span>
              <Gloss term="left" /> {percent(share(remaining))} (
              <Amount value={remaining} unit={name} rounding="down" />)
            </span>
          </li>
        </ul>
      )}
    </div>
  );
}
