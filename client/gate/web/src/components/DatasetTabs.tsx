// The pages of one dataset.
import { useEffect, useRef } from "preact/hooks";
import { useCall } from "../api/use-call.ts";
import { place, to } from "../router.ts";
import { sessionState } from "../session.ts";
import { useStore } from "../store.ts";
import { Link } from "./Link.tsx";

const TABS = [
  { title: "Budget", pattern: "/datasets/:dataset" },
  { title: "History", pattern: "/datasets/:dataset/history" },
  { title: "Releases", pattern: "/datasets/:dataset/releases" },
  { title: "Ask", pattern: "/datasets/:dataset/ask" },
  { title: "Synthesize", pattern: "/datasets/:dataset/synthesize" },
];

// Of the owner.
const ACCESS = { title: "Access", pattern: "/datasets/:dataset/access" };

export function DatasetTabs({ dataset }: { dataset: string }) {
  const { path } = useStore(place);
  const { session } = useStore(sessionState);
  const { data } = useCall("DatasetService/GetDataset", { dataset });
  const isOwner = data !== undefined && data.owner === session?.principal;
  const nav = useRef<HTMLElement>(null);
  // Where they do not fit, the present one is not out of sight.
  useEffect(() => {
    const [frame, current] = [nav.current, nav.current?.querySelector<HTMLElement>("[aria-current]")];
    if (!frame || !current) return;
    const hidden = current.getBoundingClientRect().right - frame.getBoundingClientRect().right;
    if (hidden > 0) frame.scrollLeft += hidden;
  }, [path, isOwner]);
  return (
    <nav class="tabs" ref={nav} aria-label={`Pages of ${dataset}`}>
      <ul>
        {(isOwner ? [...TABS, ACCESS] : TABS).map(({ title, pattern }) => {
          const href = to(pattern, { dataset });
          return (
            <li key={title}>
              <Link href={href} current={href === path}>
                {title}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

export function DatasetCrumb() {
  return (
    <>
      <Link href="/">Overview</Link> / Dataset
    </>
  );
}
