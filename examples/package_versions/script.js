// Name, version and privacy of every package.json under two folders; files that cannot be understood are named.
const folders = ["package_versions/apps", "package_versions/libraries"];
const lists = await Promise.all(folders.map((folder) => tools.list_files({ folder, name: "package.json" })));

const entries = await Promise.all(
  lists.flat().map(async (path) => {
    const content = await tools.read_file({ path });
    try {
      const { name = null, version = null, private: isPrivate = false } = JSON.parse(content);
      return { path, name, version, private: isPrivate };
    } catch (error) {
      return { path, problem: error.message };
    }
  }),
);

return {
  packages: entries.filter((entry) => !entry.problem).map(({ path, ...rest }) => rest),
  unreadable: entries.filter((entry) => entry.problem),
};
