// How many orders are in each status, most frequent first?
const orders = JSON.parse(await tools.read_file({ path: "count_statuses/data/orders.json" }));

const counts = {};
for (const { status } of orders) counts[status] = (counts[status] ?? 0) + 1;

return Object.fromEntries(Object.entries(counts).sort(([, a], [, b]) => b - a));
