//! The policy of a catalog as Rust source.

use climax_catalog::policy::{
    Access, Confine, ConfineLevel, Headless, Level, LineRules, Protection, Runtime, SandboxLimits, UnknownProgram,
    WidestCage,
};
use climax_catalog::{ExecutorDef, PolicyDef};
use proc_macro2::TokenStream;
use quote::quote;

use super::tokens::{list, number, optional, optional_with, text};

pub(super) fn policy(row: &PolicyDef) -> TokenStream {
    let PolicyDef { access, level, headless, deny, env, confine, lines, executor } = *row;
    let LineRules { unknown, widest, protect } = lines;
    let Confine { level: confined, required } = confine;
    let [deny, env] = [deny, env].map(list);
    let access = match access {
        Access::Enabled => quote!(Enabled),
        Access::Disabled => quote!(Disabled),
    };
    let level = match level {
        Level::None => quote!(None),
        Level::Destructive => quote!(Destructive),
        Level::Write => quote!(Write),
        Level::All => quote!(All),
    };
    let headless = match headless {
        Headless::Deny => quote!(Deny),
        Headless::Approve => quote!(Approve),
    };
    let executor = self::executor(executor);
    let confined = optional_with(confined, |level| match level {
        ConfineLevel::Off => quote!(::climax::catalog::policy::ConfineLevel::Off),
        ConfineLevel::Read => quote!(::climax::catalog::policy::ConfineLevel::Read),
        ConfineLevel::All => quote!(::climax::catalog::policy::ConfineLevel::All),
    });

    let unknown = optional_with(unknown, |unknown| match unknown {
        UnknownProgram::Refuse => quote!(::climax::catalog::policy::UnknownProgram::Refuse),
        UnknownProgram::Read => quote!(::climax::catalog::policy::UnknownProgram::Read),
        UnknownProgram::Workspace => quote!(::climax::catalog::policy::UnknownProgram::Workspace),
    });
    let widest = match widest {
        WidestCage::Read => quote!(Read),
        WidestCage::Workspace => quote!(Workspace),
    };
    let protect = match protect {
        Protection::Restore => quote!(Restore),
        Protection::Kernel => quote!(Kernel),
    };

    quote! {{
        use ::climax::catalog::policy::{Access, Confine, Headless, Level, LineRules, Protection, WidestCage};
        ::climax::catalog::PolicyDef {
            access: Access::#access, level: Level::#level, headless: Headless::#headless, deny: #deny, env: #env,
            confine: Confine { level: #confined, required: #required },
            lines: LineRules {
                unknown: #unknown, widest: WidestCage::#widest, protect: Protection::#protect
            },
            executor: #executor
        }
    }}
}

fn executor(executor: ExecutorDef) -> TokenStream {
    match executor {
        ExecutorDef::Local => quote!(::climax::catalog::ExecutorDef::Local),
        ExecutorDef::Container { runtime, image, volumes, working_dir, network } => {
            let runtime = match runtime {
                Runtime::Docker => quote!(Docker),
                Runtime::Podman => quote!(Podman),
                Runtime::Nerdctl => quote!(Nerdctl),
            };
            let image = text(image);
            let volumes = list(volumes);
            let [working_dir, network] = [working_dir, network].map(optional);
            quote!(::climax::catalog::ExecutorDef::Container {
                runtime: ::climax::catalog::policy::Runtime::#runtime,
                image: #image, volumes: #volumes, working_dir: #working_dir, network: #network
            })
        }
        ExecutorDef::Sandbox { read, write, network, limits } => {
            let [read, write] = [read, write].map(list);
            let SandboxLimits { memory_mb, cpu_s, processes, file_mb } = limits;
            let [memory_mb, cpu_s, processes, file_mb] =
                [memory_mb, cpu_s, processes, file_mb].map(|limit| optional_with(limit, number));
            quote!(::climax::catalog::ExecutorDef::Sandbox {
                read: #read, write: #write, network: #network,
                limits: ::climax::catalog::policy::SandboxLimits {
                    memory_mb: #memory_mb, cpu_s: #cpu_s, processes: #processes, file_mb: #file_mb
                }
            })
        }
    }
}
