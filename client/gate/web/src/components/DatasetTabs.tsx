// The pages of one dataset.
import { place, to } from "../router.ts";
import { useStore } from "../store.ts";
import { Link } from "./Link.tsx";

const TABS = [
  { title: "Budget", pattern: "/datasets/:dataset" },
  { title: "History", pattern: "/datasets/:dataset/history" },
  { title: "Releases", pattern: "/datasets/:dataset/releases" },
  { title: "Ask", pattern: "/datasets/:dataset/ask" },
];

export function DatasetTabs({ dataset }: { dataset: string }) {
  const { path } = useStore(place);
  return (
    <nav class="tabs" aria-label={`Pages of ${dataset}`}>
      <ul>
        {TABS.map(({ title, pattern }) => {
          const href = to(pattern, { dataset });
          return <li key={title}><Link href={href} current={href === path}>{title}</Link></li>;
        })}
      </ul>
    </nav>
  );
}

export function DatasetCrumb() {
  return <><Link href="/">Overview</Link> / Dataset</>;
}
