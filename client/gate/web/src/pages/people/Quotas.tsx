// What a principal may use of the server, and what is used now.
import { useCall } from "../../api/use-call.ts";
import { SkeletonLines } from "../../components/Empty.tsx";
import { ErrorNotice } from "../../components/Notice.tsx";
import { percent, ratio } from "../../decimal.ts";
import { quotaAmount, quotaWords } from "../../people.ts";

function Use({ name, used, limit }: { name: string; used: string; limit: string }) {
  const share = Math.min(1, ratio(used, limit));
  return (
    <div class="progress-bar" role="img" aria-label={`${quotaWords(name)}: ${percent(share)} used`}>
      <span class={share >= 0.9 ? "nearly" : undefined} style={{ width: `${share * 100}%` }} />
    </div>
  );
}

export function Quotas({ principal }: { principal: string }) {
  const { data, error, reload } = useCall("IdentityService/GetQuotas", { principal });
  if (error && !data) return <ErrorNotice error={error} what="The quotas" onRetry={reload} />;
  if (!data) return <SkeletonLines lines={6} />;
  return (
    <ul class="quotas">
      {data.quotas.map(({ name, limit, used }) => (
        <li key={name}>
          <span>{quotaWords(name)}</span>
          <span class="number quiet">
            {used === undefined
              ? quotaAmount(name, limit)
              : `${quotaAmount(name, used)} of ${quotaAmount(name, limit)}`}
          </span>
          {used !== undefined && <Use name={name} used={used} limit={limit} />}
        </li>
      ))}
    </ul>
  );
}
