// What every answer on the page of a question has around it.
import type { ComponentChildren } from "preact";
import { Button } from "../../components/Button.tsx";
import { Link } from "../../components/Link.tsx";
import { Notice } from "../../components/Notice.tsx";
import { Card } from "../../components/Page.tsx";
import { to } from "../../router.ts";

export function AnswerCard({ onClose, children }: { onClose: () => void; children: ComponentChildren }) {
  return (
    <Card
      title="Answer"
      aside={
        <Button kind="plain" onClick={onClose}>
          Ask another question
        </Button>
      }
    >
      {children}
    </Card>
  );
}

export function FreeNotice({ from }: { from: string[] }) {
  return (
    <Notice kind="good" title="Made from earlier releases: nothing was charged.">
      <span>
        {from.map((id, i) => (
          <span key={id}>
            {i > 0 && ", "}
            <Link href={to("/releases/:release", { release: id })}>{id}</Link>
          </span>
        ))}
      </span>
    </Notice>
  );
}
